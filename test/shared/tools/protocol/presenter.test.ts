import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { protocol } from "#shared/tools/protocol/contract.ts";

describe("the presentation of protocol", () => {
  it("begins with the versions that browsers can use", () => {
    const shown = presentExample(protocol);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe("shop.test offers HTTP/3, HTTP/2, HTTP/1.1 and HTTP/1.0");
    expect(shown.facts.slice(0, 4).map(({ label, value }) => `${label}: ${value}`)).toEqual([
      "HTTP/3: yes",
      "HTTP/2: yes",
      "Browsers use: HTTP/2",
      "TLS: TLSv1.3, TLS_AES_256_GCM_SHA384",
    ]);
  });

  it("does not count HTTP/3 that does not answer, or that no browser learns of", () => {
    const of = (change: object) => presentExample(protocol, ({ h3 }) => ({ h3: { ...h3, ...change } }));
    const silent = of({ quic_reachable: false, advertised_https_rr: false });
    expect(factOf(silent, "HTTP/3 advertised by")).toBe("Alt-Svc");
    expect(silent.headline).toBe("shop.test offers HTTP/2, HTTP/1.1 and HTTP/1.0");
    expect(factOf(silent, "HTTP/3")).toBe("advertised, no answer");
    const hidden = of({ advertised_alt_svc: false, advertised_https_rr: false });
    expect(hidden.headline).toBe("shop.test offers HTTP/2, HTTP/1.1 and HTTP/1.0");
    expect(factOf(hidden, "HTTP/3")).toBe("answers, not advertised");
    expect(factOf(of({ quic_reachable: "unknown" }), "HTTP/3")).toBe("advertised, no answer seen");
  });

  it("says in the headline that the certificate is not trusted, and marks old versions of TLS", () => {
    const shown = presentExample(protocol, ({ tls }) => ({
      tls: { ...tls, authorized: false, error: "self_signed", versions: { ...tls?.versions, tls1_0: true } },
    }));
    expect(shown.headline).toContain(", but its certificate is not trusted: it is self-signed");
    expect(shown.facts.find(({ label }) => label === "TLS versions")).toEqual({
      label: "TLS versions",
      value: "TLS 1.3, TLS 1.2, TLS 1.0",
      tone: "warning",
    });
  });

  it("presents a server without encryption, and the version that it uses where no other is known", () => {
    const shown = presentExample(protocol, ({ h3 }) => ({
      url: "http://shop.test/",
      negotiated: "http/1.0",
      tls: null,
      h2: false,
      http1_1: null,
      http1_0: null,
      h3: { ...h3, quic_reachable: "unknown", advertised_alt_svc: false, advertised_https_rr: false, probes: [] },
      alt_svc: [],
      https_rr: null,
    }));
    expect(shown.headline).toBe("http://shop.test offers HTTP/1.0");
    expect(["TLS", "HTTP/3", "HTTP/1.1"].map((label) => factOf(shown, label))).toEqual([
      "none: not encrypted",
      "not advertised",
      null,
    ]);
    expect(shown.tables.map(({ title }) => title)).toEqual(["Attempts"]);
  });

  it("says why an attempt has no answer", () => {
    const shown = presentExample(protocol, ({ attempts }) => ({
      attempts: attempts.map((one) => ({ ...one, http_version: null, code: null, reason: "no_application_protocol" })),
    }));
    expect(shown.tables.at(-1)?.rows[1]?.cells).toEqual(["HTTP/1.1", "none", "12", "no application protocol"]);
  });
});
