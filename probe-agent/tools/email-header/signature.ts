import { parseTagList } from "#probe-agent/analysis/mail/tag-list.ts";

/** Tags of a DKIM-Signature, ARC-Message-Signature or ARC-Seal field. A tag is null if absent. */
export interface Signature {
  readonly a: string | null;
  readonly b: string | null;
  readonly bh: string | null;
  /** Canonicalization as header/body, with the defaults. */
  readonly c: string;
  readonly cv: string | null;
  readonly d: string | null;
  /** Signed field names in lower case, including repeats. */
  readonly h: readonly string[];
  readonly i: string | null;
  readonly l: number | null;
  readonly q: string | null;
  readonly s: string | null;
  /** Time of signing in milliseconds since 1970. */
  readonly t: number | null;
  /** Time of expiry in milliseconds since 1970. */
  readonly x: number | null;
  readonly hasCopiedFields: boolean;
  /** Faults by RFC 6376, 8301, 8463 and 8617. */
  readonly issues: readonly SignatureIssue[];
}

/** Kinds of faults of a signature. */
type SignatureIssueId =
  | "tag-list-malformed"
  | "tag-missing"
  | "tag-repeated"
  | "version-unknown"
  | "algorithm-sha1"
  | "algorithm-unknown"
  | "not-base64"
  | "domain-invalid"
  | "selector-invalid"
  | "identity-outside-domain"
  | "from-not-signed"
  | "canonicalization-unknown"
  | "partial-body"
  | "query-unknown"
  | "seal-with-fields"
  | "time-invalid"
  | "expiry-invalid"
  | "expires-before-signing"
  | "expired"
  | "signed-after-arrival";

/** One fault of a signature. */
export interface SignatureIssue {
  readonly id: SignatureIssueId;
  /** Description in one sentence. */
  readonly message: string;
}

/** Kind of field. The rules differ. */
type SignatureKind = "dkim" | "arc_message" | "arc_seal";

const REQUIRED: Readonly<Record<SignatureKind, readonly string[]>> = {
  dkim: ["v", "a", "b", "bh", "d", "h", "s"],
  arc_message: ["i", "a", "b", "bh", "d", "h", "s"],
  arc_seal: ["i", "a", "b", "cv", "d", "s"],
};
const ALGORITHMS = new Set(["rsa-sha256", "ed25519-sha256"]);
const DOMAIN = /^(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/i;
const SELECTOR = /^[a-z0-9](?:[a-z0-9_.-]{0,251}[a-z0-9])?$/i;
/** Maximum number of signed field names that are read. */
const MAX_SIGNED = 500;

/** Parses and checks the tags of a signature. Fetches no key and does not verify the signature. */
export function readSignature(value: string, kind: SignatureKind): Signature {
  const { tags: list, repeated, faults } = parseTagList(value);
  // The first of repeated tags is used.
  const tags = new Map(list.toReversed().map(({ name, value: text }) => [name, text]));
  const tag = (name: string): string | null => tags.get(name) ?? null;
  const compact = (name: string): string | null => {
    const found = tags.get(name);
    return found === undefined ? null : withoutSpace(found);
  };
  const h = (compact("h") ?? "")
    .toLowerCase()
    .split(":", MAX_SIGNED)
    .filter((name) => name !== "");
  const signature = {
    a: compact("a")?.toLowerCase() ?? null,
    b: compact("b"),
    bh: compact("bh"),
    c: canonicalization(compact("c")),
    cv: compact("cv")?.toLowerCase() ?? null,
    d: compact("d")?.toLowerCase() ?? null,
    h,
    i: kind === "dkim" ? compact("i") : null,
    l: decimal(tags.get("l")),
    q: compact("q"),
    s: compact("s"),
    t: seconds(tags.get("t")),
    x: seconds(tags.get("x")),
    hasCopiedFields: tags.has("z"),
  };
  const missing = REQUIRED[kind].filter((name) => !tags.has(name));
  return {
    ...signature,
    issues: [
      ...(faults.length > 0 ? [issue("tag-list-malformed", "The field is not a list of tags.")] : []),
      ...missing.map((name) => issue("tag-missing", `The tag ${name}= is missing.`)),
      ...repeated.map((name) => issue("tag-repeated", `The tag ${name}= occurs more than once.`)),
      ...(kind === "dkim" && tags.has("v") && tag("v") !== "1"
        ? [issue("version-unknown", "The version v= is not 1.")]
        : []),
      ...algorithmIssues(signature.a),
      ...base64Issues("b", signature.b),
      ...base64Issues("bh", signature.bh),
      ...nameIssues(signature, kind),
      ...timeIssues(tags, signature),
    ],
  };
}

function issue(id: SignatureIssueId, message: string): SignatureIssue {
  return { id, message };
}

function canonicalization(given: string | null): string {
  const [header = "", body] = (given ?? "").toLowerCase().split("/");
  // Section 3.5, c=: a single word is for the header; simple is the default of both.
  return `${header === "" ? "simple" : header}/${body ?? "simple"}`;
}

function seconds(value: string | undefined): number | null {
  const number = decimal(value);
  return number === null ? null : number * 1000;
}

function algorithmIssues(a: string | null): SignatureIssue[] {
  if (a === null || ALGORITHMS.has(a)) return [];
  if (a === "rsa-sha1") {
    return [issue("algorithm-sha1", "Verifiers ignore signatures with the algorithm rsa-sha1 (RFC 8301).")];
  }
  return [issue("algorithm-unknown", "The algorithm a= is unknown.")];
}

function base64Issues(name: string, value: string | null): SignatureIssue[] {
  return value === null || isBase64(value) ? [] : [issue("not-base64", `The tag ${name}= is not base64.`)];
}

type Read = Omit<Signature, "issues">;

function nameIssues({ d, i, s, h, c, l, q }: Read, kind: SignatureKind): SignatureIssue[] {
  const agentDomain = i === null ? null : i.slice(i.lastIndexOf("@") + 1).toLowerCase();
  const outside = agentDomain !== null && d !== null && agentDomain !== d && !agentDomain.endsWith(`.${d}`);
  const needsFrom = kind !== "arc_seal" && h.length > 0 && !h.includes("from");
  return [
    ...(d !== null && !DOMAIN.test(d) ? [issue("domain-invalid", "The domain d= is not a domain name.")] : []),
    ...(s !== null && !SELECTOR.test(s) ? [issue("selector-invalid", "The selector s= is not a valid name.")] : []),
    ...(outside ? [issue("identity-outside-domain", "The identity i= is not in the domain d=.")] : []),
    ...(needsFrom ? [issue("from-not-signed", "From is not among the signed fields h=.")] : []),
    ...(/^(?:simple|relaxed)\/(?:simple|relaxed)$/.test(c)
      ? []
      : [issue("canonicalization-unknown", "The canonicalization c= is unknown.")]),
    ...(l === null
      ? []
      : [issue("partial-body", "Only part of the body is signed (l=): anyone can append text to the message.")]),
    ...(q !== null && !q.split(":").includes("dns/txt")
      ? [issue("query-unknown", "The query method q= is unknown, so the key cannot be fetched.")]
      : []),
    ...(kind === "arc_seal" && h.length > 0
      ? [issue("seal-with-fields", "A seal must not have h= (RFC 8617 section 4.1.3).")]
      : []),
  ];
}

function timeIssues(tags: ReadonlyMap<string, string>, { t, x }: Read): SignatureIssue[] {
  return [
    ...(tags.has("t") && t === null ? [issue("time-invalid", "The time t= is not a number.")] : []),
    ...(tags.has("x") && x === null ? [issue("expiry-invalid", "The expiry x= is not a number.")] : []),
    ...(t !== null && x !== null && x <= t
      ? [issue("expires-before-signing", "The signature expires (x=) before it was made (t=).")]
      : []),
  ];
}

/** Removes white space. Base64 data and lists can be folded anywhere. */
function withoutSpace(value: string): string {
  return value.replaceAll(/\s+/g, "");
}

function decimal(value: string | undefined): number | null {
  return value !== undefined && /^\d{1,12}$/.test(value) ? Number(value) : null;
}

function isBase64(value: string): boolean {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(value) && value.length % 4 === 0;
}
