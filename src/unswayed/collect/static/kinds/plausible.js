export function start(form, words) {
  return {
    answer() {
      const choice = new FormData(form).get('choice');
      return choice ? { choice } : words.choose;
    },
  };
}
