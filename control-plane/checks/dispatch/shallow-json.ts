/** Maximum nesting, more than any result or progress has. JSON.stringify throws a RangeError at about 7,000 levels. */
const DEEPEST = 100;

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/**
 * Parses JSON of an agent; returns undefined for invalid JSON and for more than 100 levels. JSON.parse accepts any
 * depth, but JSON.stringify of the result would end the process.
 */
export function parseShallowJson(text: string): unknown {
  if (!hasFewBrackets(text) && isDeep(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Reports whether so few brackets open that the text cannot be deep. A search is faster than a loop over characters. */
function hasFewBrackets(text: string): boolean {
  let opened = 0;
  for (const bracket of ["{", "["]) {
    for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
      opened += 1;
      if (opened > DEEPEST) return false;
    }
  }
  return true;
}

function isDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index += 1) {
    const character = text.charCodeAt(index);
    if (isInString) {
      if (character === BACKSLASH) index += 1;
      else if (character === QUOTE) isInString = false;
    } else if (character === QUOTE) isInString = true;
    else if (character === OPEN_ARRAY || character === OPEN_OBJECT) {
      depth += 1;
      if (depth > DEEPEST) return true;
    } else if (character === CLOSE_ARRAY || character === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}
