/** Maximum number of monitors in one statement. What becomes of its rows holds the event loop for a few milliseconds. */
const AT_ONCE = 500;

/** Reads facts about any number of monitors, some hundreds at a time. */
export async function readInParts<Q, T>(
  questions: readonly Q[],
  read: (part: readonly Q[]) => Promise<ReadonlyMap<number, T>>,
): Promise<ReadonlyMap<number, T>> {
  const all = new Map<number, T>();
  for (let at = 0; at < questions.length; at += AT_ONCE) {
    for (const [id, facts] of await read(questions.slice(at, at + AT_ONCE))) all.set(id, facts);
  }
  return all;
}
