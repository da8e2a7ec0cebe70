import { describe, expect, it } from "vitest";
import { protocolFindings, type ProtocolFacts } from "#probe-agent/tools/protocol/findings.ts";

const H3 = { advertised_alt_svc: true, advertised_https_rr: false, quic_reachable: true } as ProtocolFacts["h3"];
const VERSIONS = { ssl3: false, tls1_0: false, tls1_1: false, tls1_2: true, tls1_3: true };
const TLS = { versions: VERSIONS, authorized: true, error: null } as NonNullable<ProtocolFacts["tls"]>;
const GOOD: ProtocolFacts = {
  url: "https://shop.example/",
  h2: true,
  h3: H3,
  tls: TLS,
  https_rr: null,
  altSvcProblems: [],
};
const RECORDS = { name: "shop.example", records: [{ compatible: false }] } as unknown as ProtocolFacts["https_rr"];

describe("the findings of protocol", () => {
  it.each<[string, Partial<ProtocolFacts>, string[]]>([
    ["a modern server has none", {}, []],
    ["plain HTTP is not judged for what needs TLS", { url: "http://shop.example/", h2: false, tls: null }, []],
    ["no HTTP/2", { h2: false }, ["warning no-http2"]],
    ["no HTTP/3", { h3: { ...H3, advertised_alt_svc: false } }, ["info no-http3"]],
    ["HTTP/3 on a closed port", { h3: { ...H3, quic_reachable: false } }, ["warning http3-unreachable"]],
    ["silence over UDP proves nothing", { h3: { ...H3, quic_reachable: "unknown" } }, []],
    ["SSL 3", { tls: { ...TLS, versions: { ...VERSIONS, ssl3: true } } }, ["critical old-protocol"]],
    ["TLS 1.0", { tls: { ...TLS, versions: { ...VERSIONS, tls1_0: true } } }, ["warning old-protocol"]],
    ["no TLS 1.3", { tls: { ...TLS, versions: { ...VERSIONS, tls1_3: false } } }, ["info no-tls1-3"]],
    [
      "neither 1.2 nor 1.3",
      { tls: { ...TLS, versions: { ...VERSIONS, tls1_2: false, tls1_3: false } } },
      ["critical no-modern-protocol"],
    ],
    [
      "a bad certificate",
      { tls: { ...TLS, authorized: false, error: "expired" } },
      ["critical certificate-not-trusted"],
    ],
    ["an HTTPS record nobody can use", { https_rr: RECORDS }, ["warning https-record-unusable"]],
    ["an Alt-Svc nobody can read", { altSvcProblems: ["no port"] }, ["warning alt-svc-malformed"]],
  ])("%s", (_what, change, expected) => {
    const found = protocolFindings({ ...GOOD, ...change });
    expect(found.map(({ id, severity }) => `${severity} ${id}`)).toEqual(expected);
    for (const { how } of found) expect((how ?? "").length).toBeGreaterThan(15);
  });
});
