/** Fields whose values differ between two runs of one service, by what they are. */
const VOLATILE_FIELDS: readonly (readonly [name: RegExp, mark: string, value?: RegExp])[] = [
  [/(?:^|_)(?:ms|us)$/, "<duration>"],
  [/^(?:token|secret|signing_secret)$/, "<secret>"],
  [/^(?:kid|ca_fingerprint)$/, "<fingerprint>"],
  // Of an audit export.
  [/^value$/, "<signature>", /^[0-9a-f]{64}$/],
  // Of the header: it is a hash of the body, which is recorded without what differs.
  [/^etag$/, "<etag>"],
  // Dates of certificates are the host's, and what the service finds by itself it finds at its own pace.
  [/^(?:certificate_expires_at|enrolled_at|last_seen_at|since)$/, "<time>"],
];

/** Random texts, by their forms. Words and numbers around them stay. */
const VOLATILE_TEXTS: readonly (readonly [form: RegExp, mark: string])[] = [
  [/\breq_[0-9A-Za-z]{12,24}\b/g, "<request id>"],
  [/\bvtg_[0-9A-Za-z]{36}\b/g, "<key>"],
  [/\bvtg_[0-9A-Za-z]{4}(?![0-9A-Za-z])/g, "<start of a key>"],
  [/(\bvantage-page=)[0-9A-Za-z]{32}/g, "$1<token>"],
  [/\bwhsec_[0-9A-Za-z+/=*_-]+/g, "<signing secret>"],
  [/\bvas_[0-9A-Za-z_-]+/g, "<audit secret>"],
  [/\bvjt_[0-9A-Za-z_-]+/g, "<join token>"],
  [/\b(evt|bat|msr|dlv)_[0-9A-Za-z_-]+/g, "<$1 id>"],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "<uuid>"],
  [/(\/(?:s|i|start|invite|reset|confirm|unsubscribe|heartbeat)\/)[0-9A-Za-z_-]{20,}/g, "$1<token>"],
  [/(name="_csrf" value=")[^"]*/g, "$1<csrf>"],
  [/(vantage_(?:session|device)=)[0-9A-Za-z_-]+/g, "$1<token>"],
  // The id of a replica, where it is the whole text.
  [/^[0-9a-f]{16}$/g, "<replica>"],
  [/(\beu-west-)[0-9a-z]{4,12}\b/g, "$1<agent>"],
  [/\b(127\.0\.0\.1|localhost|\[::1\]):\d{4,5}\b/g, "$1:<port>"],
  // Hashes of a file's content, in its address and in a policy: the file itself is recorded.
  [/(\/(?:app\/)?assets\/(?:status-page-)?)[0-9A-Za-z_-]{16}(?=\/)/g, "$1<hash>"],
  [/'sha256-[0-9A-Za-z+/=]+'/g, "'sha256-<hash>'"],
  // The host's time of day, to the millisecond; the recording's own clock shows times of two days, which stay.
  [/\b20\d\d-(?!03-0[45])\d\d-\d\dT\d\d:\d\d:\d\d\.(?!000Z)\d{3}Z/g, "<time>"],
];

/** A header field, or a JSON value, or the lines of a text: with the same answer in each run of the same code. */
export function normaliseText(text: string, known: ReadonlyMap<string, string> = new Map()): string {
  let normal = text;
  for (const [found, mark] of known) normal = normal.replaceAll(found, mark);
  for (const [form, mark] of VOLATILE_TEXTS) normal = normal.replaceAll(form, mark);
  return normal;
}

/** Marks what differs between two runs in a JSON value. Keys, their order, and the type of null stay. */
export function normaliseJson(value: unknown, known: ReadonlyMap<string, string> = new Map()): unknown {
  if (typeof value === "string") return normaliseText(value, known);
  if (Array.isArray(value)) return value.map((item) => normaliseJson(item, known));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]: [string, unknown]) => {
      const isValue = typeof item === "number" || typeof item === "string";
      const field = VOLATILE_FIELDS.find(
        ([name, , form = /^/]) => isValue && name.test(key) && form.test(String(item)),
      );
      return [normaliseText(key, known), field === undefined ? normaliseJson(item, known) : field[1]];
    }),
  );
}

/** Series for each kind of handle or collection that the process has had, and of what fails only on a busy machine. */
const OF_THE_PROCESS = /^(?:nodejs_\w+|vantage_presence_failures_total)\{/;

/**
 * Returns the series of a Prometheus text once each, with their labels and without their values, sorted: which of them
 * a run has touched first differs.
 */
export function normaliseMetrics(text: string, known: ReadonlyMap<string, string> = new Map()): readonly string[] {
  const stable = text.split("\n").filter((line) => line !== "" && !OF_THE_PROCESS.test(line));
  const lines = stable.map((line) => (line.startsWith("#") ? line : line.replace(/ [^ ]+$/, " <value>")));
  return [...new Set(lines.map((line) => normaliseText(line, known)))].toSorted();
}

/** Splits markup and text into lines that are short enough for a difference to be read. Line breaks between tags are one. */
export function linesOf(text: string): readonly string[] {
  return text.replaceAll(/>\s*\n\s*<|></g, ">\n<").split("\n");
}
