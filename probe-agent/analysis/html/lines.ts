/**
 * Returns a function that converts an offset to a line number, from 1. Offsets must be in document order, because each
 * call continues from the last one.
 */
export function lineCounter(text: string): (offset: number) => number {
  let line = 1;
  // Kept between calls. Otherwise each call would search a page of one line to its end.
  let next = text.indexOf("\n");
  return (offset) => {
    while (next !== -1 && next < offset) {
      line += 1;
      next = text.indexOf("\n", next + 1);
    }
    return line;
  };
}
