import { listAll, listFirst } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import type { dns } from "#shared/tools/dns.ts";

type Dns = ResultOf<typeof dns>;
type Answer = Dns["results"][number];

/** Records that a fact or the headline names. The table has all. */
export const MOST_NAMED = 3;

/** Reports whether a status is an answer about the name, not a failure of the lookup. */
export function isAnswer(status: string): boolean {
  return status === "NOERROR" || status === "NXDOMAIN";
}

/** Says in one line what a lookup found, or why it found nothing. */
export function headlineOf({ domain, results, dnssec }: Dns): string {
  const failing = results.filter(({ status }) => !isAnswer(status));
  const missing = results.find(({ status }) => status === "NXDOMAIN");
  const found = results.filter(({ records }) => records.length > 0);
  if (dnssec?.status === "bogus") return `${domain} fails DNSSEC validation: many resolvers give no answer for it`;
  if (missing !== undefined) {
    const target = missing.cname_chain.at(-1);
    return target === undefined
      ? `${domain} does not exist in the DNS`
      : `${domain} is an alias of ${target}, which does not exist`;
  }
  if (found.length === 0) return describeNothing(domain, results);
  const but = failing.length === 0 ? "" : `, but ${listAll(failing.map(({ type }) => type))} cannot be looked up`;
  return `${domain}${describeFound(found, results)}${but}`;
}

function describeNothing(domain: string, results: readonly Answer[]): string {
  const failing = results.filter(({ status }) => !isAnswer(status));
  const [first] = failing;
  if (first === undefined) return `${domain} exists, but has no ${listAll(results.map(({ type }) => type))} records`;
  if (failing.every(({ status }) => status === "TIMEOUT"))
    return `The resolver gives no answer for ${domain}${first.unreachable === null ? "" : `: ${first.unreachable}`}`;
  if (failing.every(({ status }) => status === "REFUSED")) return `The resolver refuses to answer for ${domain}`;
  return `${domain} cannot be looked up: ${listAll(failing.map(({ type, status }) => `${type} ${status}`))}`;
}

/** Says what was found: " resolves to 192.0.2.1, with 1 MX record", " MX: 10 mail.example.com", " has 2 NS and 3 TXT". */
function describeFound(found: readonly Answer[], results: readonly Answer[]): string {
  const addresses = dataOf(found, ["A", "AAAA"]);
  const others = found.filter(({ type }) => !isAddress(type));
  const counts = listAll(others.map(({ type, records }) => `${records.length} ${type}`));
  const last = others.at(-1)?.records.length === 1 ? "record" : "records";
  if (addresses.length > 0)
    return ` resolves to ${listFirst(addresses, MOST_NAMED)}${others.length === 0 ? "" : `, with ${counts} ${last}`}`;
  const absent = results.filter(({ type, status }) => isAddress(type) && status === "NOERROR");
  if (absent.length > 0) return ` has no ${listAll(absent.map(({ type }) => type))} record, but ${counts} ${last}`;
  const [only] = others;
  if (others.length > 1 || only === undefined) return ` has ${counts} ${last}`;
  return ` ${only.type}: ${listFirst(only.records.map(readableData), MOST_NAMED)}`;
}

function isAddress(type: string): boolean {
  return type === "A" || type === "AAAA";
}

/** Returns the data of all records of some types, readable. */
export function dataOf(results: readonly Answer[], types: readonly string[]): readonly string[] {
  return results.filter(({ type }) => types.includes(type)).flatMap(({ records }) => records.map(readableData));
}

/** Returns the data of a record without quotation marks and final dots, where its type is known. */
export function readableData(row: Answer["records"][number]): string {
  const { type, text, exchange, preference, nsdname, cname, data } = row;
  if (type === "MX" && exchange !== undefined && preference !== undefined) return `${preference} ${exchange}`;
  return text ?? nsdname ?? cname ?? data;
}
