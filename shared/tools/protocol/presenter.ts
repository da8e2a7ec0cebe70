import { existing, fact, table } from "#shared/presentation/build.ts";
import type { Table, Verdict } from "#shared/presentation/presentation.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { trustReason } from "#shared/presentation/trust-reason.ts";
import { milliseconds, shortUrl, yesNo } from "#shared/presentation/values.ts";
import { writeDuration } from "#shared/text/duration.ts";
import { listAll } from "#shared/text/list.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { protocol as contract } from "#shared/tools/protocol/contract.ts";

type Protocol = ResultOf<typeof contract>;

const VERSIONS = { h2: "HTTP/2", "http/1.1": "HTTP/1.1", "http/1.0": "HTTP/1.0" } as const;
const TLS_VERSIONS = [
  ["tls1_3", "TLS 1.3"],
  ["tls1_2", "TLS 1.2"],
  ["tls1_1", "TLS 1.1"],
  ["tls1_0", "TLS 1.0"],
  ["ssl3", "SSL 3"],
] as const;
const ATTEMPTS: Readonly<Record<Protocol["attempts"][number]["name"], string>> = {
  default: "as a browser",
  "http/1.0": "HTTP/1.0",
  "http/1.1": "HTTP/1.1",
  h2: "HTTP/2",
  no_alpn: "without negotiation",
  h2c_upgrade: "upgrade to HTTP/2",
  h2c_prior_knowledge: "HTTP/2 at once",
};
const SOURCES = { alt_svc: "Alt-Svc header", https_rr: "HTTPS record", origin: "the URL" } as const;

/** protocol: the versions of HTTP that the server supports, how browsers learn of them, and TLS below them. */
export const protocol = definePresenter(contract, (data) => {
  const { h2, h3, tls, location } = data;
  const spoken = existing(
    h3.quic_reachable === true && advertisers(data).length > 0 && "HTTP/3",
    h2 && "HTTP/2",
    data.http1_1 === true && "HTTP/1.1",
    data.http1_0 === true && "HTTP/1.0",
  );
  const isUntrusted = tls !== null && !tls.authorized;
  const offered = tls === null ? [] : TLS_VERSIONS.filter(([key]) => tls.versions[key] === true);
  const isOld = offered.some(([, name]) => name !== "TLS 1.3" && name !== "TLS 1.2");
  const [third, toneOfThird] = describeThird(data);
  return {
    headline: `${shortUrl(data.url)} offers ${spoken.length === 0 ? VERSIONS[data.negotiated] : listAll(spoken)}${isUntrusted ? `, but its certificate is not trusted: ${trustReason(tls.error)}` : ""}`,
    facts: existing(
      fact("HTTP/3", third, { tone: toneOfThird }),
      fact("HTTP/2", yesNo(h2), { tone: h2 ? "good" : tls === null ? null : "warning" }),
      fact("Browsers use", VERSIONS[data.negotiated]),
      fact("TLS", tls === null ? "none: not encrypted" : `${tls.protocol}, ${tls.cipher}`),
      fact("HTTP/3 advertised by", listAll(advertisers(data))),
      fact("HTTP/1.1", yesNo(data.http1_1)),
      fact("HTTP/1.0", yesNo(data.http1_0)),
      fact("Without negotiation", data.without_alpn === null ? null : VERSIONS[data.without_alpn]),
      fact("Certificate", isUntrusted ? `not trusted: ${trustReason(tls.error)}` : null, { tone: "bad" }),
      fact("TLS versions", offered.map(([, name]) => name).join(", "), { tone: isOld ? "warning" : null }),
      fact("Key exchange", tls?.group),
      fact("HTTP/2 by upgrade", yesNo(data.h2c_upgrade)),
      fact("HTTP/2 at once", yesNo(data.h2c_prior_knowledge)),
      fact("Encrypted hello", yesNo(data.ech)),
      fact("Status", data.code, { tone: data.code >= 400 ? "warning" : null }),
      fact("Leads to", location),
      fact("Address", data.ip === data.host ? null : data.ip),
    ),
    tables: existing(...advertisements(data), attempts(data)),
  };
});

function advertisers({ h3 }: Protocol): readonly string[] {
  return existing(h3.advertised_alt_svc && "Alt-Svc", h3.advertised_https_rr && "DNS");
}

/** Describes HTTP/3: browsers use it only if it is advertised and answers. */
function describeThird(data: Protocol): readonly [string, Verdict | null] {
  const { quic_reachable: answers } = data.h3;
  if (advertisers(data).length === 0) {
    if (answers === true) return ["answers, not advertised", null];
    return [answers === false ? "no" : data.alt_svc_clear ? "withdrawn" : "not advertised", null];
  }
  if (answers === "unknown") return ["advertised, no answer seen", null];
  return answers ? ["yes", "good"] : ["advertised, no answer", "warning"];
}

function advertisements({ h3, alt_svc: services, https_rr: records }: Protocol): readonly (Table | null)[] {
  return [
    table(
      "HTTP/3 by address",
      ["Server", "Address", "Answers", "#ms", "Known from", "Reason"],
      h3.probes.map(({ source, host, port, ip, reachable, rtt_ms: rtt, reason }) => ({
        cells: [
          `${host}:${port}`,
          ip,
          reachable === "unknown" ? "unknown" : yesNo(reachable),
          rtt === null ? null : milliseconds(rtt),
          SOURCES[source],
          reason,
        ],
        tone: reachable === false ? "warning" : null,
      })),
    ),
    table(
      "Alternative services",
      ["Protocol", "Host", "#Port", "Valid for"],
      services.map(({ alpn, host, port, max_age_s: age }) => [alpn, host, port, writeDuration(age)]),
    ),
    table(
      "HTTPS records",
      ["#Priority", "Target", "Protocols", "#Port", "Note"],
      (records?.records ?? []).map(({ priority, target, alpn, port, compatible }) => ({
        cells: [priority, target, alpn.join(", "), port, compatible ? null : "clients ignore it"],
        tone: compatible ? null : "warning",
      })),
    ),
  ];
}

function attempts({ attempts: rows }: Protocol): Table | null {
  return table(
    "Attempts",
    ["Attempt", "Answer", "#Status", "#ms", "Reason"],
    rows.map(({ name, http_version: version, code, ms, reason }) => [
      ATTEMPTS[name],
      version === null ? "none" : `HTTP/${version}`,
      code,
      ms,
      reason?.replaceAll("_", " "),
    ]),
  );
}
