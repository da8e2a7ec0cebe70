// Limits in characters.
const BULLET = /^[-*+][ \t]+\[/;
const MAX_LABEL = 500;
const MAX_DESTINATION = 2_048;
const MAX_INNER = 200;
const MAX_LINE = 8_000;

/**
 * Reports whether a line is a list item of the form `- [name](url)`, with or without notes after a colon or a space.
 * The name can contain brackets and the URL parentheses, if they are in pairs (CommonMark, links). A URL in `<>` can
 * contain spaces. Each character is read once.
 */
export function isLinkItem(text: string): boolean {
  const line = text.slice(0, MAX_LINE);
  const start = BULLET.exec(line)?.[0].length;
  if (start === undefined) return false;
  const label = endOfPaired(line, start, { pair: "[]", most: MAX_LABEL, allows: () => true });
  if (label === -1 || line.charAt(label + 1) !== "(") return false;
  const destination = endOfDestination(line, label + 2);
  return destination !== -1 && /^(?:$|:?[ \t])/.test(line.slice(destination + 1));
}

/** Returns the index of the ")" that ends a URL starting at `start`, or -1 if there is no URL. */
function endOfDestination(line: string, start: number): number {
  if (line.charAt(start) !== "<") {
    return endOfPaired(line, start, {
      pair: "()",
      most: MAX_DESTINATION,
      allows: (character) => character !== "<" && character !== ">" && character.trim() !== "",
    });
  }
  const inner = line.slice(start + 1).search(/[<>]/);
  const close = start + 1 + inner;
  const valid = inner > 0 && inner <= MAX_DESTINATION && line.startsWith(">)", close);
  return valid ? close + 1 : -1;
}

interface Paired {
  readonly pair: "[]" | "()";
  /** Maximum number of characters and inner pairs. The minimum is one. */
  readonly most: number;
  readonly allows: (character: string) => boolean;
}

/**
 * Returns the index of the closing bracket for the text that starts at `start`, or -1 if it is not closed. Skips one level
 * of inner pairs.
 */
function endOfPaired(line: string, start: number, { pair, most, allows }: Paired): number {
  const [open, close] = pair;
  let units = 0;
  let inside = -1;
  for (let at = start; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (inside !== -1) {
      if (character === close) inside = -1;
      else if (character === open || !allows(character) || at - inside > MAX_INNER) return -1;
    } else if (character === close) return units > 0 ? at : -1;
    else if (!allows(character) || units >= most) return -1;
    else {
      if (character === open) inside = at;
      units += 1;
    }
  }
  return -1;
}
