import { parseTagList } from "#probe-agent/analysis/mail/tag-list.ts";

/** A DKIM-Signature, ARC-Message-Signature or ARC-Seal field as its tags say; null where a tag is absent. */
export interface Signature {
  readonly a: string | null;
  readonly b: string | null;
  readonly bh: string | null;
  /** header/body, with the default filled in. */
  readonly c: string;
  readonly cv: string | null;
  readonly d: string | null;
  /** Signed field names in lower case, repeats kept. */
  readonly h: readonly string[];
  readonly i: string | null;
  readonly l: number | null;
  readonly q: string | null;
  readonly s: string | null;
  /** Milliseconds since 1970. */
  readonly t: number | null;
  readonly x: number | null;
  readonly hasCopiedFields: boolean;
  /** What RFC 6376, 8301, 8463 and 8617 do not allow or advise against. */
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
  /** A sentence. */
  readonly message: string;
}

/** Which field it is, for the rules differ. */
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

/** Reads and judges the tags alone: no key is fetched, nothing is verified. */
export function readSignature(value: string, kind: SignatureKind): Signature {
  const { tags: list, repeated, faults } = parseTagList(value);
  // Of repeated tags the first is shown.
  const tags = new Map(list.toReversed().map(({ name, value: told }) => [name, told]));
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
      ...(faults.length > 0 ? [issue("tag-list-malformed", "The field is no list of tags.")] : []),
      ...missing.map((name) => issue("tag-missing", `The tag ${name}= is missing.`)),
      ...repeated.map((name) => issue("tag-repeated", `The tag ${name}= stands there more than once.`)),
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
  // Section 3.5, c=: one word is the header's, simple is the default of both.
  return `${header === "" ? "simple" : header}/${body ?? "simple"}`;
}

function seconds(value: string | undefined): number | null {
  const number = decimal(value);
  return number === null ? null : number * 1000;
}

function algorithmIssues(a: string | null): SignatureIssue[] {
  if (a === null || ALGORITHMS.has(a)) return [];
  if (a === "rsa-sha1") {
    return [issue("algorithm-sha1", "The algorithm rsa-sha1 counts as no signature (RFC 8301).")];
  }
  return [issue("algorithm-unknown", "The algorithm a= is not known.")];
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
    ...(d !== null && !DOMAIN.test(d) ? [issue("domain-invalid", "The domain d= is no domain name.")] : []),
    ...(s !== null && !SELECTOR.test(s) ? [issue("selector-invalid", "The selector s= is no name.")] : []),
    ...(outside ? [issue("identity-outside-domain", "The identity i= is not in the domain d=.")] : []),
    ...(needsFrom ? [issue("from-not-signed", "From is not among the signed fields h=.")] : []),
    ...(/^(?:simple|relaxed)\/(?:simple|relaxed)$/.test(c)
      ? []
      : [issue("canonicalization-unknown", "The canonicalization c= is not known.")]),
    ...(l === null
      ? []
      : [issue("partial-body", "Only part of the body is signed (l=): text can be added to the message.")]),
    ...(q !== null && !q.split(":").includes("dns/txt")
      ? [issue("query-unknown", "The key cannot be fetched as q= says.")]
      : []),
    ...(kind === "arc_seal" && h.length > 0
      ? [issue("seal-with-fields", "A seal must not have h= (RFC 8617 section 4.1.3).")]
      : []),
  ];
}

function timeIssues(tags: ReadonlyMap<string, string>, { t, x }: Read): SignatureIssue[] {
  return [
    ...(tags.has("t") && t === null ? [issue("time-invalid", "The time t= is no number.")] : []),
    ...(tags.has("x") && x === null ? [issue("expiry-invalid", "The expiry x= is no number.")] : []),
    ...(t !== null && x !== null && x <= t
      ? [issue("expires-before-signing", "The signature expires (x=) before it was made (t=).")]
      : []),
  ];
}

/** Base64 and lists may be folded anywhere. */
function withoutSpace(value: string): string {
  return value.replaceAll(/\s+/g, "");
}

function decimal(value: string | undefined): number | null {
  return value !== undefined && /^\d{1,12}$/.test(value) ? Number(value) : null;
}

function isBase64(value: string): boolean {
  return /^[A-Za-z0-9+/]+={0,2}$/.test(value) && value.length % 4 === 0;
}
