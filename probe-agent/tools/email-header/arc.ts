import type { HeaderRows } from "#probe-agent/tools/email-header/rows.ts";
import type { Arrival } from "#probe-agent/tools/email-header/arrival.ts";
import { readAuthenticationResults } from "#probe-agent/tools/email-header/authentication-results.ts";
import type { Field } from "#probe-agent/tools/email-header/fields.ts";
import { isoOrNull } from "#probe-agent/tools/email-header/received-hops.ts";
import { readSignature, type Signature } from "#probe-agent/tools/email-header/signature.ts";
import { timesAgainst } from "#probe-agent/tools/email-header/signatures.ts";
import { printable, printableOrNull } from "#probe-agent/analysis/text/printable.ts";

type ArcChain = NonNullable<HeaderRows["arc_chain"]>;
type ArcSet = ArcChain["sets"][number];

/** Maximum instance number (RFC 8617 section 4.2.1). */
const MAX_INSTANCE = 50;
const KINDS = ["arc-authentication-results", "arc-message-signature", "arc-seal"] as const;
const MAX_RESULTS = 30;
const MAX_NAMES = 60;
/** Maximum number of fields that are read: three for each instance, and as many superfluous ones. */
const MAX_FIELDS = 300;

type Values = Record<(typeof KINDS)[number], string[]>;

/** Reads the sets of an ARC chain and checks its structure (RFC 8617 sections 5.1.1, 5.2). Null without ARC fields. */
export function readArcChain(fields: readonly Field[], arrival: Arrival): ArcChain | null {
  const arcFields = fields.filter(({ key }) => KINDS.some((kind) => kind === key)).slice(0, MAX_FIELDS);
  if (arcFields.length === 0) return null;
  const issues: string[] = [];
  const byInstance = new Map<number, Values>();
  for (const { key, value } of arcFields) {
    const instance = readInstance(value);
    if (instance === null) {
      issues.push(`A field of the chain has no instance number from 1 to ${MAX_INSTANCE} (i=).`);
      continue;
    }
    const values = byInstance.get(instance) ?? { [KINDS[0]]: [], [KINDS[1]]: [], [KINDS[2]]: [] };
    byInstance.set(instance, values);
    values[key as (typeof KINDS)[number]].push(value);
  }
  const highest = Math.max(0, ...byInstance.keys());
  const sets = [...byInstance]
    .toSorted(([one], [other]) => one - other)
    .map(([i, values]) => readSet(i, values, arrival));
  for (let i = 1; i <= highest; i += 1) {
    const set = sets.find((one) => one.i === i);
    if (set === undefined) issues.push(`Set ${i} is missing.`);
    else issues.push(...findBreaks(set));
  }
  return {
    instances: highest,
    valid_structure: issues.length === 0 && highest > 0,
    cv: sets.at(-1)?.cv ?? null,
    sets,
    issues: [...new Set(issues)],
  };
}

/** Finds what breaks the chain at one set. */
function findBreaks({ i, complete, cv }: ArcSet): string[] {
  if (!complete) return [`Set ${i} does not have its three fields once each.`];
  if (i === 1) return cv === "none" ? [] : [`The first seal must say cv=none, not ${cv ?? "nothing"}.`];
  if (cv === "fail") return [`The sealer of set ${i} found the chain broken (cv=fail).`];
  return cv === "pass" ? [] : [`The seal of set ${i} must say cv=pass, not ${cv ?? "nothing"}.`];
}

/** Reads the instance number. i= is the first tag of an ARC-Authentication-Results field and any tag of the others. */
function readInstance(value: string): number | null {
  const found = /(?:^|;)\s{0,1000}i\s{0,10}=\s{0,10}(\d{1,3})\s{0,10}(?:;|$)/.exec(value.slice(0, 16_384));
  const instance = Number(found?.[1] ?? "0");
  return instance >= 1 && instance <= MAX_INSTANCE ? instance : null;
}

function readSet(i: number, values: Values, arrival: Arrival): ArcSet {
  const [results = "", message, seal] = KINDS.map((kind) => values[kind][0]);
  const parsed = readAuthenticationResults(results.slice(results.indexOf(";") + 1));
  const sealed = seal === undefined ? null : readSignature(seal, "arc_seal");
  const signed = message === undefined ? null : readSignature(message, "arc_message");
  return {
    i,
    cv: printableOrNull(sealed?.cv),
    sealer: printableOrNull(sealed?.d),
    selector: printableOrNull(sealed?.s),
    algorithm: printableOrNull(sealed?.a),
    sealed_at: isoOrNull(sealed?.t ?? null),
    signed_fields: (signed?.h ?? []).slice(0, MAX_NAMES).map((name) => printable(name, 100)),
    authserv_id: printableOrNull(parsed.authservId),
    results: parsed.results
      .slice(0, MAX_RESULTS)
      .map(({ method, result }) => ({ method: printable(method), result: printable(result, 100) })),
    complete: KINDS.every((kind) => values[kind].length === 1),
    issues: [
      ...issuesOf(sealed, arrival).map((issue) => `Seal: ${issue}`),
      ...issuesOf(signed, arrival).map((issue) => `Message signature: ${issue}`),
    ],
  };
}

function issuesOf(signature: Signature | null, arrival: Arrival): string[] {
  if (signature === null) return [];
  return [...signature.issues, ...timesAgainst(signature, arrival)].map(({ message }) => message);
}
