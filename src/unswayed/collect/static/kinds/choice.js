export function start(form, words) {
  return {
    answer() {
      const choice = new FormData(form).getAll('choice');
      return choice.length ? { choice } : words.choose;
    },
  };
}
