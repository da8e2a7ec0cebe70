/** Error of a text that is not a valid expression. Never leaves this folder. */
export class ExpressionError extends Error {
  override readonly name = "ExpressionError";
}

/** The characters of an expression, one after the other. */
export interface Reader {
  /** The next character; undefined at the end. */
  peek(): string | undefined;
  /** Skips the next character and returns it. Throws ExpressionError at the end. */
  take(): string;
  /** Skips a character if it is next, and reports whether it was. */
  skip(character: string): boolean;
}

/** Creates a reader of the code points of a text. */
export function createReader(text: string): Reader {
  const characters = Array.from(text);
  let at = 0;
  return {
    peek: () => characters[at],
    take() {
      const character = characters[at];
      if (character === undefined) throw new ExpressionError();
      at += 1;
      return character;
    },
    skip(character) {
      const isNext = characters[at] === character;
      if (isNext) at += 1;
      return isNext;
    },
  };
}
