import type { ResultOf } from "#shared/tools/define.ts";
import type { protocol } from "#shared/tools/protocol.ts";
import type { Hop } from "#probe-agent/port/http.ts";
import { isSpoken, isUpgraded, type Attempt } from "#probe-agent/tools/protocol/attempts.ts";

/** HTTP versions that a server supports over TCP, and how they are negotiated. */
type SpokenVersions = Pick<
  ResultOf<typeof protocol>,
  "http1_0" | "http1_1" | "h2" | "h2c_upgrade" | "h2c_prior_knowledge" | "without_alpn"
>;

/** Derives the versions from the attempts. `final` is the first successful answer. */
export function readVersions(attempts: readonly Attempt[], final: Hop): SpokenVersions {
  const isSecure = final.tls !== null;
  const found = (name: Attempt["name"]): Attempt | undefined => attempts.find((one) => one.name === name);
  const isSupported = (name: Attempt["name"], versions: readonly string[]): boolean | null => {
    const one = found(name);
    return one === undefined ? null : isSpoken(one, versions, final.code);
  };
  const upgrade = found("h2c_upgrade");
  const h2cUpgrade = upgrade === undefined ? null : isUpgraded(upgrade);
  const h2cPrior = isSupported("h2c_prior_knowledge", ["2"]);
  const isHttp2 = final.httpVersion === "2" || isSupported("h2", ["2"]) === true;
  const isHttp11 = final.httpVersion === "1.1";
  return {
    // An HTTP/1.1 server answers an HTTP/1.0 request with version 1.1 (RFC 9110 section 6.2).
    http1_0: isSupported("http/1.0", ["1.0", "1.1"]),
    http1_1: isHttp11 ? true : isSecure ? isSupported("http/1.1", ["1.1"]) : false,
    h2: isHttp2 || h2cUpgrade === true || h2cPrior === true,
    h2c_upgrade: h2cUpgrade,
    h2c_prior_knowledge: h2cPrior,
    without_alpn: isSecure ? withoutAlpn(attempts, final) : null,
  };
}

/** Returns the version that the server uses without ALPN; null if it does not answer such a request. */
function withoutAlpn(attempts: readonly Attempt[], final: Hop): SpokenVersions["without_alpn"] {
  const spoken = (version: string) => (version === "1.0" ? "http/1.0" : "http/1.1");
  const one = attempts.find(({ name }) => name === "no_alpn");
  if (one === undefined || isSpoken(one, ["1.0", "1.1"], final.code) !== true) return null;
  return one.outcome.status === "ok" ? spoken(one.outcome.data.final.httpVersion) : null;
}

/** Returns one sentence for each value that could not be determined. */
export function versionLimitations(spoken: SpokenVersions, isSecure: boolean): string[] {
  const rows: readonly (readonly [value: boolean | null, what: string])[] = [
    [spoken.http1_0, "answers HTTP/1.0"],
    [spoken.http1_1, "supports HTTP/1.1"],
    ...(isSecure
      ? []
      : ([
          [spoken.h2c_upgrade, "supports HTTP/2 by Upgrade"],
          [spoken.h2c_prior_knowledge, "supports unencrypted HTTP/2"],
        ] as const)),
  ];
  return rows.flatMap(([value, what]) =>
    value === null ? [`Whether the server ${what} could not be determined: see attempts.`] : [],
  );
}
