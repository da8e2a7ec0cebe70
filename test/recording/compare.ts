/** What one request was answered, without what differs between two runs. */
export interface RecordedAnswer {
  /** Who asks, method and path, and what else tells it from other requests. */
  readonly request: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, the lines of a text, or the length and hash of other octets. */
  readonly body: unknown;
}

/** The most lines of a body that are shown for one request. */
const MOST_LINES = 12;
const MOST_CHARACTERS = 200;

/** Describes each request whose answer is not the same in both recordings, in the order of the new one. */
export function compareRecordings(old: readonly RecordedAnswer[], now: readonly RecordedAnswer[]): readonly string[] {
  const before = new Map(old.map((answer) => [answer.request, answer]));
  const names = new Set(now.map(({ request }) => request));
  return [
    ...now.flatMap((answer) => {
      const known = before.get(answer.request);
      if (known === undefined) return [`${answer.request}\n  is new`];
      const changes = [
        ...diffLines([`status ${known.status}`], [`status ${answer.status}`]),
        ...diffLines(shown(known.headers), shown(answer.headers)),
        ...diffLines(shown(known.body), shown(answer.body)),
      ];
      return changes.length === 0 ? [] : [`${answer.request}\n${short(changes).join("\n")}`];
    }),
    ...old.filter(({ request }) => !names.has(request)).map(({ request }) => `${request}\n  is not asked any more`),
  ];
}

function shown(value: unknown): readonly string[] {
  return JSON.stringify(value, null, 1).split("\n");
}

/** The lines between the common beginning and the common end of two texts. */
function diffLines(old: readonly string[], now: readonly string[]): readonly string[] {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, now.length) - start;
  while (end < most && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  return [
    ...short(old.slice(start, old.length - end)).map((line) => `  - ${line.trim()}`),
    ...short(now.slice(start, now.length - end)).map((line) => `  + ${line.trim()}`),
  ];
}

function short(lines: readonly string[]): readonly string[] {
  const cut = lines.map((line) => (line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line));
  return cut.length <= MOST_LINES
    ? cut
    : [...cut.slice(0, MOST_LINES), `  … and ${cut.length - MOST_LINES} lines more`];
}
