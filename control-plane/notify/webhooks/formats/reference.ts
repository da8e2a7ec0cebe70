/** A string, a number that is followed by something (else it can be cut off), a word, or a mark. */
const TOKEN = /\s*(?:("(?:[^"\\]|\\.)*")|(-?\d[\d.eE+-]*)(?=[\s,\]}])|(true|false|null)|([{}[\],:]))/y;
/** An id that fits into a URL and a log: visible ASCII characters. */
const REFERENCE = /^[\x21-\x7e]{1,255}$/;

/**
 * Returns an id that is at a path of member names in a JSON document of which only the beginning is known: a string or a
 * whole number of at most 255 visible ASCII characters. null if there is none, or it is not what an id can be.
 */
export function findReference(bodyStart: string, path: readonly string[]): string | null {
  const found = findValue(bodyStart, path);
  return found !== null && !found.isWord && REFERENCE.test(found.text) ? found.text : null;
}

/** Returns the text of the string, number, true, false or null at such a path; null if there is none. */
export function findText(bodyStart: string, path: readonly string[]): string | null {
  return findValue(bodyStart, path)?.text ?? null;
}

/** Reads tokens, because JSON.parse refuses a document that is cut off, and answers of chats repeat the message. Linear time. */
function findValue(
  bodyStart: string,
  path: readonly string[],
): { readonly text: string; readonly isWord: boolean } | null {
  // Name of the present member of each open object; null in arrays, and before the first name.
  const open: (string | null)[] = [];
  let text: string | null = null;
  let isValue = false;
  TOKEN.lastIndex = 0;
  for (let token = TOKEN.exec(bodyStart); token !== null; token = TOKEN.exec(bodyStart)) {
    const [, quoted, number, word, mark] = token;
    if (mark === ":" && open.length > 0) {
      open[open.length - 1] = text;
      isValue = true;
      continue;
    }
    if (isValue && isAt(open, path)) {
      const value = quoted === undefined ? (number ?? word ?? null) : unquote(quoted);
      return value === null ? null : { text: value, isWord: word !== undefined };
    }
    isValue = false;
    text = quoted === undefined ? null : unquote(quoted);
    if (mark === "{" || mark === "[") open.push(null);
    else if (mark === "}" || mark === "]") open.pop();
  }
  return null;
}

function isAt(open: readonly (string | null)[], path: readonly string[]): boolean {
  return open.length === path.length && path.every((name, depth) => open[depth] === name);
}

function unquote(quoted: string): string | null {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return null;
  }
}
