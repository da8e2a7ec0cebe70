import type { ResultOf } from "#shared/tools/define.ts";
import type { dns } from "#shared/tools/dns/contract.ts";
import { toMicroseconds } from "#probe-agent/analysis/network/statistics.ts";
import { followCnames } from "#probe-agent/analysis/dns/cname-chain.ts";
import { extendedErrorName } from "#probe-agent/analysis/dns/extended-errors.ts";
import { fairShares, jsonBytes, leading } from "#probe-agent/analysis/text/json-size.ts";
import type { DnsAnswer, DnsRecord } from "#probe-agent/port/dns.ts";

/** Entry of one record type in the result of the dns tool. */
type TypeResult = ResultOf<typeof dns>["results"][number];
type Row = TypeResult["records"][number];

/** A record type and the resolver's answer for it. */
export interface TypeAnswer {
  readonly type: string;
  readonly answer: DnsAnswer;
}

// A result is limited to 256 KB (shared/protocol/wire.ts). `records` repeats up to a third of the rows. Aliases, errors and SOAs
// of seven types take up to 85 KB if a server is hostile.
const MAX_ROWS_BYTES = 110_000;
const MAX_CHAIN_BYTES = 4_000;
const MAX_ERRORS = 8;
const MAX_ERROR_CHARACTERS = 120;

/**
 * Returns the entries of all types, and limitations that say which records are left out. If the entries together are
 * too large, the largest are shortened.
 */
export function typeResults(
  name: string,
  answers: readonly TypeAnswer[],
): { results: TypeResult[]; limitations: string[] } {
  const whole = answers.map((answer) => typeResult(name, answer));
  const shares = fairShares(
    whole.map(({ records }) => jsonBytes(records)),
    MAX_ROWS_BYTES,
  );
  const results = whole.map((result, index) => ({ ...result, records: leading(result.records, shares[index] ?? 0) }));
  const limitations = results.flatMap(({ type, records }, index) => {
    const all = whole[index]?.records.length ?? 0;
    return records.length < all ? [`${type}: the first ${records.length} of ${all} records are shown`] : [];
  });
  return { results, limitations: [...limitations, ...answers.flatMap((answer) => describeLimitations(name, answer))] };
}

/** Returns the entry of one type with all its records. */
export function typeResult(name: string, { type, answer }: TypeAnswer): TypeResult {
  const chain = followCnames(name, type, answer.answers);
  const soa = answer.authority.find((record) => record.type === "SOA" && "serial" in record.typed);
  return {
    type,
    // For a client, an unreadable answer is a failure of the server.
    status: answer.status === "MALFORMED" ? "SERVFAIL" : answer.status,
    records: chain.records.map(toRow),
    cname_chain: leading(chain.targets, MAX_CHAIN_BYTES),
    authority_soa: soa === undefined ? null : (toRow(soa) as NonNullable<TypeResult["authority_soa"]>),
    transport: answer.transport,
    flags: answer.flags,
    ede: answer.ede.slice(0, MAX_ERRORS).map(({ code, text }) => ({
      code,
      name: extendedErrorName(code),
      text: text.slice(0, MAX_ERROR_CHARACTERS),
    })),
    rtt_ms: answer.rttMs === null ? null : toMicroseconds(answer.rttMs),
    connect_ms: answer.connectMs === undefined || answer.connectMs === null ? null : toMicroseconds(answer.connectMs),
    unreachable: answer.unreachable ?? null,
    counts: {
      answer: answer.answers.length,
      authority: answer.authority.length,
      additional: answer.additional.length,
    },
    server: answer.server,
    nsid: describeNsid(answer.nsid),
  };
}

function describeNsid(hex: string | null): TypeResult["nsid"] {
  if (hex === null || hex === "") return null;
  const octets = Buffer.from(hex, "hex");
  const text = octets.toString("latin1");
  return { text: /^[ -~]+$/.test(text) ? text : null, hex };
}

function describeLimitations(name: string, { type, answer }: TypeAnswer): string[] {
  const found: string[] = [];
  if (followCnames(name, type, answer.answers).loop) found.push(`${type}: the aliases (CNAME) lead in a circle`);
  if (answer.status === "MALFORMED") found.push(`${type}: the resolver's answer is not a readable DNS message`);
  if (answer.flags.tc) found.push(`${type}: the answer was truncated and could not be fetched over TCP`);
  return found;
}

function toRow({ name, ttl, type, data, typed }: DnsRecord): Row {
  return { ...typed, name, ttl, type, data };
}
