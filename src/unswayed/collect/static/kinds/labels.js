const VALUES = { yes: true, no: false, none: null };

export function start(form, words) {
  return {
    answer() {
      const given = new FormData(form), slots = given.get('slots'), intent = given.get('intent');
      return slots && intent ? { slots: VALUES[slots], intent: VALUES[intent] } : words.choose;
    },
  };
}
