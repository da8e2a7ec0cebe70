/** Line (from 1) of an offset; offsets must come in document order, so that each call goes on where the last one stopped. */
export function lineCounter(text: string): (offset: number) => number {
  let line = 1;
  // Kept from call to call: a page of one line would be searched to its end for each.
  let next = text.indexOf("\n");
  return (offset) => {
    while (next !== -1 && next < offset) {
      line += 1;
      next = text.indexOf("\n", next + 1);
    }
    return line;
  };
}
