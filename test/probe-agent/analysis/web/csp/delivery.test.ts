import { describe, expect, it } from "vitest";
import { analyseCsp } from "#probe-agent/analysis/web/csp.ts";
import { boundCsp, cspReport, reportingEndpoints, undefinedGroups } from "#probe-agent/tools/csp/report.ts";
import { deliveredPolicies, enforcedTexts } from "#probe-agent/analysis/web/csp/delivery.ts";
import { jsonBytes, leadingText } from "#probe-agent/analysis/text/json-size.ts";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";

const META = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'">';

function delivered(html: string) {
  const { texts, findings } = deliveredPolicies([], readHtml(html));
  return { texts: texts.map((text) => text.header), types: findings.map((finding) => finding.type) };
}

describe("policies of meta elements", () => {
  it("count in an explicit or implied head", () => {
    for (const html of [META, `<title>x</title>${META}`, `<html><head><link rel=x>${META}</head><body>`]) {
      expect(delivered(html)).toEqual({ texts: ["default-src 'none'"], types: [] });
    }
  });

  it("do not count in an explicit or implied body, nor in inert elements", () => {
    for (const html of [`<body>${META}`, `<p>text</p>${META}`, `<head></head><div>${META}</div>`]) {
      expect(delivered(html)).toEqual({ texts: [], types: ["meta_outside_head"] });
    }
    expect(delivered(`<noscript>${META}</noscript><template>${META}</template><!-- ${META} -->`).texts).toEqual([]);
  });

  it("are flagged after a script, once", () => {
    expect(delivered(`<script>early()</script>${META}${META}`)).toEqual({
      texts: ["default-src 'none'", "default-src 'none'"],
      types: ["meta_after_script"],
    });
    expect(delivered(`${META}<script></script>`).types).toEqual([]);
  });

  it("are flagged if they are report-only", () => {
    const html = '<meta http-equiv=content-security-policy-report-only content="img-src x">';
    expect(delivered(html)).toEqual({ texts: [], types: ["report_only_in_meta"] });
  });
});

describe("the report of a page", () => {
  const report = (html: string, ...headers: readonly (readonly [string, string])[]) => {
    const page = {
      url: "https://a.example/",
      status: 200,
      contentType: "text/html",
      page: readHtml(html),
      unread: false,
    };
    return cspReport({ ...page, headers }).fields;
  };

  it("intersects several headers, their parts separated by commas, and meta elements", () => {
    const html = `<meta http-equiv=Content-Security-Policy content="font-src 'none'; frame-ancestors 'none'; sandbox; report-uri /x"><p>`;
    const { effective, policies, findings } = report(
      html,
      ["content-security-policy", "script-src 'self', img-src 'none'"],
      ["content-security-policy", "script-src https:"],
    );
    expect(policies.map(({ source }) => source)).toEqual(["header", "header", "header", "meta"]);
    expect(effective).toMatchObject({ script_src: ["'self'"], img_src: [], font_src: [] });
    expect(effective).toMatchObject({ style_src: null, frame_ancestors: null, sandbox: null });
    const ignored = findings.filter(({ id }) => id === "ignored-in-meta").map(({ where }) => where);
    expect(ignored).toEqual(["frame-ancestors", "sandbox", "report-uri"]);
  });

  it("warns of a meta element after a script, whose policy is enforced", () => {
    const { enforced, findings } = report(`<script>1</script>${META}`);
    expect(enforced).toBe(true);
    expect(findings).toContainEqual(expect.objectContaining({ id: "meta-after-script", severity: "warning" }));
  });

  it("gives a report-only policy at most 30 points", () => {
    const result = report("<p>", ["content-security-policy-report-only", "default-src 'self'; report-to gone"]);
    expect(result).toMatchObject({ grade: "F", score: 30, enforced: false });
    const found = result.findings.map(({ id, where }) => [id, where]);
    expect(found).toContainEqual(["undefined-reporting-group", "report-to gone"]);
    expect(result.findings).toContainEqual(expect.objectContaining({ id: "policy-not-enforced", severity: "warning" }));
  });

  it("gives grade F and the header to send if there is no policy", () => {
    expect(report("<p>")).toMatchObject({
      grade: "F",
      score: 0,
      findings: [{ id: "policy-missing", how: expect.stringContaining("Content-Security-Policy: default-src 'self'") }],
      policies: [],
      effective: { script_src: null },
    });
  });
});

it("lists headers first and returns what is enforced", () => {
  const headers = [
    ["Content-Security-Policy-Report-Only", "script-src 'self'"],
    ["CONTENT-SECURITY-POLICY", "img-src *"],
    ["content-security-policy", "font-src *"],
  ] as const;
  const delivery = deliveredPolicies(headers, readHtml(META));
  expect(analyseCsp(delivery.texts).policies.map(({ source, raw }) => [source, raw])).toEqual([
    ["header", "img-src *"],
    ["header", "font-src *"],
    ["report-only", "script-src 'self'"],
    ["meta", "default-src 'none'"],
  ]);
  expect(enforcedTexts(delivery).map((text) => text.header)).toEqual(["img-src *", "font-src *", "default-src 'none'"]);
});

describe("reporting", () => {
  const headers = [
    ["Reporting-Endpoints", 'main="https://r.example/a", other="/b"'],
    [
      "Report-To",
      '{"group":"old","max_age":1,"endpoints":[{"url":"https://r.example/c"}]}, {"endpoints":[{"url":"x"}]}',
    ],
  ] as const;
  it("reads both kinds of headers", () => {
    expect(reportingEndpoints(headers)).toEqual([
      { name: "main", url: "https://r.example/a" },
      { name: "other", url: "/b" },
      { name: "old", url: "https://r.example/c" },
      { name: "default", url: "x" },
    ]);
  });
  it.each(["{", '[1,null,"x"]', '{"group":1,"endpoints":[]}', '{"endpoints":[null,{"url":1}]}', "{".repeat(60_000)])(
    "makes nothing of %s",
    (value) => expect(reportingEndpoints([["report-to", value.slice(0, 60_000)]])).toEqual([]),
  );
  it("reports groups that no header defines", () => {
    const found = undefinedGroups(["main", "absent"], reportingEndpoints(headers));
    expect(found.map(({ type, value }) => [type, value])).toEqual([["undefined_reporting_group", "absent"]]);
  });
  it("reads a hostile header quickly", () => {
    for (const value of [
      " ".repeat(100_000),
      ",a".repeat(50_000),
      `a="${"b".repeat(100_000)}`,
      'a="b",'.repeat(20_000),
    ]) {
      expect(reportingEndpoints([["reporting-endpoints", value]]).length).toBeLessThanOrEqual(50);
    }
  });
});

describe("hostile policies", () => {
  it("are read completely with 500 directives, and reported as truncated with more than a thousand", () => {
    const policy = (count: number) => Array.from({ length: count }, (_, n) => `x-${n} 'self'`).join(";");
    const report = analyseCsp([{ header: policy(500) }]);
    expect(Object.keys(report.policies[0]?.directives ?? {})).toHaveLength(500);
    expect(report.findings.map((one) => one.type)).not.toContain("truncated");
    expect(analyseCsp([{ header: policy(1500) }]).findings.map((one) => one.type)).toContain("truncated");
    expect(analyseCsp([{ header: `img-src ${"a.b ".repeat(3000)}` }]).findings.map((one) => one.type)).toContain(
      "truncated",
    );
  });

  it("with NUL, CR and other control characters are split only at white space and show none of them", () => {
    const { findings, policies } = analyseCsp([
      { header: "img-src\ra.com\u0000\fb.com; 'x\u0007'\u001b; script-src 'y\u0000'" },
    ]);
    expect(policies[0]?.directives["img-src"]).toEqual(["a.com\u0000", "b.com"]);
    // oxlint-disable-next-line no-control-regex -- the expression searches for control characters
    expect(JSON.stringify(findings)).not.toMatch(/\\u00[01]|[\u0000-\u001f]/);
    expect(findings.some((one) => one.value === "'y\uFFFD'")).toBe(true);
  });

  it("are truncated to the size of a result", () => {
    const many = (letter: string) => Array.from({ length: 2000 }, (_, n) => `https://${letter}${n}.example`).join(" ");
    const texts = ["script-src", "img-src", "style-src"].map((name) => ({ header: `${name} ${many(name[0] ?? "")}` }));
    const long = { header: `font-src ${"\u0001".repeat(60_000)}; ${"y".repeat(50_000)} 'self'` };
    const analysis = analyseCsp([...texts, long]);
    const bounded = boundCsp(analysis);
    expect(bounded.cut).toBe(true);
    expect(jsonBytes(bounded)).toBeLessThan(207_000);
    expect(bounded.policies.map((policy) => Object.keys(policy.directives)[0])).toEqual([
      "script-src",
      "img-src",
      "style-src",
      "font-src",
    ]);
    expect(bounded.policies[0]?.directives["script-src"]?.length).toBeGreaterThan(100);
    const small = analyseCsp([{ header: "default-src 'self'" }]);
    expect(boundCsp(small)).toMatchObject({
      cut: false,
      policies: small.policies,
      effective: small.effective,
    });
  });
});

it("truncates a text to a number of octets of JSON", () => {
  expect(leadingText("short", 100)).toBe("short");
  expect(leadingText("aaaaaaaaaa", 7)).toBe("aaaaa");
  expect(leadingText("\u0001\u0001\u0001", 15)).toBe("\u0001\u0001");
  expect(leadingText("a😀😀", 8)).toBe("a😀");
  expect(leadingText("", 2)).toBe("");
});
