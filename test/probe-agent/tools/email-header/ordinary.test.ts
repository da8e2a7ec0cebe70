import { describe, expect, it } from "vitest";
import { analyseHeaders } from "#probe-agent/tools/email-header/analyse.ts";
import { ordinaryMails } from "#test/support/ordinary-mail.ts";

/** Time of the analysis, years after the messages. */
const NOW = new Date("2026-11-22T12:00:00Z");
const mails = ordinaryMails().map((mail) => ({ ...mail, result: analyseHeaders(mail.headers, NOW) }));

describe("ordinary mail", () => {
  it("of no receiver has an anomaly in more than half of the messages", () => {
    expect(mails.length).toBeGreaterThanOrEqual(60);
    const groups = [mails, ...Map.groupBy(mails, ({ receiver }) => receiver).values()];
    for (const group of groups) {
      const counts = new Map<string, number>();
      for (const { result } of group) {
        for (const id of new Set(result.anomalies.map((one) => one.id))) counts.set(id, (counts.get(id) ?? 0) + 1);
      }
      const common = [...counts].filter(([, count]) => count > group.length / 2);
      expect(common, group === mails ? "all" : group[0]?.receiver).toEqual([]);
    }
  });

  it("has only anomalies of severity info", () => {
    const grave = mails.flatMap(({ sender, receiver, result }) =>
      result.anomalies.flatMap(({ id, severity }) => (severity === "info" ? [] : [`${receiver}, ${sender}: ${id}`])),
    );
    expect(grave).toEqual([]);
  });

  it("has the client address that its receiver saw, the domain of From and no domain named none", () => {
    for (const { headers, result } of mails) {
      expect(result.alignment.from_domain).toBe(/\nFrom: .*@([^>]+)>/.exec(headers)?.[1]);
      const seen = result.hops.filter(({ ip_type: type }) => type === "public").map(({ ip }) => ip);
      expect(seen.length).toBeGreaterThan(0);
      expect(seen.filter((ip) => ip?.startsWith("11.") !== true && ip?.startsWith("2603:") !== true)).toEqual([]);
      const { spf, dkim, dmarc } = result.auth;
      const domains = [spf?.domain, dmarc?.domain, ...dkim.map(({ domain }) => domain)];
      expect(domains.filter((domain) => domain === "none" || domain === "unknown")).toEqual([]);
      expect(result.auth.confirmed).not.toBe(false);
    }
  });
});

describe("words for an absent value", () => {
  const authOf = (results: string) => analyseHeaders(`Authentication-Results: ${results}\nFrom: a@b.example\n`, NOW);

  it.each(["none", "None", "unknown", "(none)", "<none>", "null", "N/A", "-"])("%s is not a domain", (word) => {
    const properties = `spf=none smtp.mailfrom=${word}; dkim=none header.d=${word} header.s=${word} header.i=${word}; dmarc=none action=none header.from=${word}`;
    const { auth, alignment } = authOf(`mx.example; ${properties}`);
    expect(auth.spf).toMatchObject({ result: "none", domain: null, scope: null });
    expect(auth.dkim).toMatchObject([{ result: "none", domain: null, selector: null, identity: null }]);
    expect(auth.dmarc).toMatchObject({ result: "none", domain: null });
    expect(alignment).toMatchObject({ spf: { domain: null }, dkim: [{ domain: null, relaxed: null }] });
  });

  it("are skipped for a named domain and kept as a policy", () => {
    const { auth } = authOf(
      "mx.example; spf=pass smtp.mailfrom=none smtp.helo=h.example; dkim=pass header.d=none header.i=@c.example; dmarc=pass policy.dmarc=none header.from=b.example",
    );
    expect(auth.spf).toMatchObject({ domain: "h.example", scope: "helo" });
    expect(auth.dkim).toMatchObject([{ domain: "c.example" }]);
    expect(auth.dmarc).toMatchObject({ policy: "none", domain: "b.example" });
  });

  it("are not an envelope sender in Received-SPF", () => {
    const { auth } = analyseHeaders("Received-SPF: none client-ip=unknown; envelope-from=none; helo=h.example;\n", NOW);
    expect(auth.spf).toMatchObject({ result: "none", domain: null, ip: null });
  });
});

describe("the receiving host's own results", () => {
  const results = "Authentication-Results: mx.example.net; spf=pass smtp.mailfrom=shop.example";
  const last = "Received: from out.shop.example (out.shop.example [11.0.2.5]) by BY; Tue, 2 Jan 2024 09:00:00 +0000";
  const first = "Received: from pc.shop.example by out.shop.example; Tue, 2 Jan 2024 09:00:00 +0000";
  const resultsOf = (by: string, ...lines: string[]) => {
    const { auth, anomalies } = analyseHeaders([last.replace("BY", by), ...lines].join("\n"), NOW);
    return [auth.confirmed, anomalies.some(({ id }) => id === "authserv_id_foreign")];
  };

  it("are confirmed in every position", () => {
    expect(resultsOf("mx.example.net", results, first)).toEqual([true, false]);
    expect(resultsOf("mx.example.net", first, results)).toEqual([true, false]);
    expect(resultsOf("in2.example.net", first, results)).toEqual([true, false]);
  });

  it("are confirmed for internal names and for other domains of the operator", () => {
    expect(resultsOf("store4.nyi.internal", results)).toEqual([null, false]);
    expect(resultsOf("mx0a-1.pphosted.com", results.replace("mx.example.net", "ppops.net"))).toEqual([true, false]);
  });

  it("do not include results from before the first hop", () => {
    const unnamed = "Authentication-Results: dkim=none (message not signed) header.d=none;dmarc=none action=none";
    const came = analyseHeaders([last.replace("BY", "mx.example.net"), first, unnamed].join("\n"), NOW);
    expect(came.auth).toMatchObject({ spf: null, dkim: [], dmarc: null });
    expect(came.authentication_results.map(({ trusted }) => trusted)).toEqual([false]);
    const own = analyseHeaders([unnamed, last.replace("BY", "mx.example.net"), first].join("\n"), NOW);
    expect(own.auth).toMatchObject({ dkim: [{ result: "none", domain: null }], dmarc: { result: "none" } });
  });

  it("are unconfirmed if another organization received the message", () => {
    expect(resultsOf("mx.other.example", first, results)).toEqual([false, true]);
  });
});

it("expiry and l= of a signature cause one anomaly each", () => {
  const signature = (tags: string) =>
    `DKIM-Signature: v=1; a=rsa-sha256; d=b.example; s=s; ${tags} h=from; bh=QUJD; b=QUJD\nDate: Tue, 2 Jan 2024 09:00:00 +0000`;
  const found = (tags: string) =>
    analyseHeaders(signature(tags), NOW)
      .anomalies.map(({ id }) => id)
      .filter((id) => id.startsWith("dkim"));
  expect(found("x=1600000000;")).toEqual(["dkim_expired"]);
  expect(found("l=10;")).toEqual(["dkim_partial_body"]);
  expect(found("i=@other.example;")).toEqual(["dkim_issues"]);
  expect(found("x=1600000000; l=10; i=@other.example;")).toEqual(["dkim_expired", "dkim_partial_body", "dkim_issues"]);
});
