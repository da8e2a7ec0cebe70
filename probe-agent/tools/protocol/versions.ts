import type { ResultOf } from "#shared/tools/define.ts";
import type { protocol } from "#shared/tools/protocol.ts";
import type { Hop } from "#probe-agent/port/http.ts";
import { isSpoken, isUpgraded, type Attempt } from "#probe-agent/tools/protocol/attempts.ts";

/** The versions a server speaks over TCP, by which way. */
type SpokenVersions = Pick<
  ResultOf<typeof protocol>,
  "http1_0" | "http1_1" | "h2" | "h2c_upgrade" | "h2c_prior_knowledge" | "without_alpn"
>;

/** Reads the attempts; `final` is the answer a browser gets. */
export function readVersions(attempts: readonly Attempt[], final: Hop): SpokenVersions {
  const isSecure = final.tls !== null;
  const found = (name: Attempt["name"]): Attempt | undefined => attempts.find((one) => one.name === name);
  const verdict = (name: Attempt["name"], versions: readonly string[]): boolean | null => {
    const one = found(name);
    return one === undefined ? null : isSpoken(one, versions, final.code);
  };
  const upgrade = found("h2c_upgrade");
  const h2cUpgrade = upgrade === undefined ? null : isUpgraded(upgrade);
  const h2cPrior = verdict("h2c_prior_knowledge", ["2"]);
  const isHttp2 = final.httpVersion === "2" || verdict("h2", ["2"]) === true;
  const isHttp11 = final.httpVersion === "1.1";
  return {
    // An HTTP/1.1 server answers as such (RFC 9110 section 6.2).
    http1_0: verdict("http/1.0", ["1.0", "1.1"]),
    http1_1: isHttp11 ? true : isSecure ? verdict("http/1.1", ["1.1"]) : false,
    h2: isHttp2 || h2cUpgrade === true || h2cPrior === true,
    h2c_upgrade: h2cUpgrade,
    h2c_prior_knowledge: h2cPrior,
    without_alpn: isSecure ? withoutAlpn(attempts, final) : null,
  };
}

/** Where the server chose no name it has shown already what it speaks without one. */
function withoutAlpn(attempts: readonly Attempt[], final: Hop): SpokenVersions["without_alpn"] {
  const spoken = (version: string) => (version === "1.0" ? "http/1.0" : "http/1.1");
  const one = attempts.find(({ name }) => name === "no_alpn");
  if (one === undefined || isSpoken(one, ["1.0", "1.1"], final.code) !== true) return null;
  return one.outcome.status === "ok" ? spoken(one.outcome.data.final.httpVersion) : null;
}

/** Sentences for what is null because it could not be told. */
export function untoldVersions(spoken: SpokenVersions, isSecure: boolean): string[] {
  const rows: readonly (readonly [value: boolean | null, what: string])[] = [
    [spoken.http1_0, "HTTP/1.0 is answered"],
    [spoken.http1_1, "HTTP/1.1 is spoken"],
    ...(isSecure
      ? []
      : ([
          [spoken.h2c_upgrade, "HTTP/2 can be had by Upgrade"],
          [spoken.h2c_prior_knowledge, "HTTP/2 is spoken in the clear"],
        ] as const)),
  ];
  return rows.flatMap(([value, what]) => (value === null ? [`Whether ${what} could not be told: see attempts.`] : []));
}
