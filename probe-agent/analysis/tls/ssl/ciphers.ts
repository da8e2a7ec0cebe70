import type { ResultOf } from "#shared/tools/define.ts";
import type { ssl } from "#shared/tools/ssl.ts";
import type { GroupsSeen, SuitesSeen } from "#probe-agent/analysis/tls/ssl/configuration.ts";
import { GROUPS } from "#probe-agent/analysis/tls/ssl/groups.ts";
import { strengthOf, suitesOf } from "#probe-agent/analysis/tls/ssl/suites.ts";
import { opensslName } from "#probe-agent/analysis/tls/ssl/suites/openssl-name.ts";
import type { Suite } from "#probe-agent/analysis/tls/ssl/suites/read.ts";

type Result = ResultOf<typeof ssl>;
type CipherRow = NonNullable<Result["ciphers"]>[number];
type GroupRow = NonNullable<Result["groups"]>[number];

const STRENGTHS = ["strong", "acceptable", "weak", "broken"] as const;

/**
 * Returns the result's rows of suites: newest version first, within a version in the server's order, or the strongest
 * first if that order is unknown.
 */
export function cipherRows(seen: readonly SuitesSeen[]): CipherRow[] {
  return seen.toReversed().flatMap(({ version, codes, ranked }) => {
    const suites = suitesOf(codes);
    return (ranked ? suites : strongestFirst(suites)).map((suite) => cipherRow(version.name, suite));
  });
}

function strongestFirst(suites: readonly Suite[]): Suite[] {
  const rank = (suite: Suite): number => STRENGTHS.indexOf(strengthOf(suite));
  return suites.toSorted((one, other) => rank(one) - rank(other) || other.bits - one.bits || one.code - other.code);
}

function cipherRow(protocol: string, suite: Suite): CipherRow {
  return {
    protocol,
    iana_name: suite.name,
    openssl_name: opensslName(suite),
    code: hexadecimal(suite.code),
    bits: suite.bits,
    kx: suite.kx,
    auth: suite.auth,
    forward_secrecy: suite.forwardSecrecy,
    aead: suite.aead,
    strength: strengthOf(suite),
  };
}

/**
 * Returns the result's rows of groups: each group once, with its versions, in the order in which the server chose them.
 */
export function groupRows(seen: readonly GroupsSeen[]): GroupRow[] {
  const codes = [...new Set(seen.flatMap((one) => one.codes))];
  return codes.flatMap((code) => {
    const group = GROUPS.get(code);
    if (group === undefined) return [];
    const protocols = seen.filter((one) => one.codes.includes(code)).map(({ version }) => version.name);
    return [
      { name: group.name, code: hexadecimal(code), bits: group.bits, post_quantum: group.postQuantum, protocols },
    ];
  });
}

function hexadecimal(code: number): string {
  return `0x${code.toString(16).padStart(4, "0")}`;
}
