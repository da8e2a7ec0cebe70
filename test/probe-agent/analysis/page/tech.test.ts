import { type RuleObjects, detect } from "#test/entry-points.ts";
import { describe, expect, it } from "vitest";
import type { TechPage } from "#probe-agent/analysis/page/tech/subject.ts";

const URL = "https://www.example.test/";

function namesOf(page: Partial<TechPage>, technologies: RuleObjects["technologies"]): string[] {
  return detect({ url: URL, ...page }, { technologies }).map(({ name }) => name);
}

/** Returns the version, confidence and evidence of the only technology found. */
function only(page: Partial<TechPage>, rule: object) {
  const [found, ...more] = detect({ url: URL, ...page }, { technologies: { It: rule } });
  expect(more).toEqual([]);
  return found === undefined
    ? null
    : { version: found.version, confidence: found.confidence, evidence: found.evidence };
}

describe("each field of a rule is tested on its part of the page", () => {
  const page: Partial<TechPage> = {
    headers: [
      ["Server", "Made/1.2"],
      ["X-Empty", ""],
    ],
    cookies: { made_sid: "7", _m_ABC123: "x" },
    html: `<!doctype html><html><head><base href="/app/"><meta name="Generator" content="Made 3.4.5">
      <meta property="og:made" content="yes"><style>.made-box{color:red}</style>
      <script src="js/made-2.0.1.min.js"></script><script>window.made = {v: "9"};</script>
      <link rel="modulepreload" href="chunk-made.mjs"></head>
      <body id="made"><!-- made by hand --><div class="a made-root" data-made="5.6"><p>Proudly <b>made</b></p></div>
      <script>/* not text */ var hidden = "unseen words"</script></body></html>`,
    robots: "User-agent: *\nDisallow: /made-admin/\n",
    dns: { MX: ["mx.made.test"], TXT: ["v=spf1 include:made.test -all"], NS: ["ns.made.test"], CNAME: ["made.test"] },
    certIssuer: ["Made Trust", "Made CA 1"],
    xhr: ["api.made.test"],
  };
  const cases: readonly (readonly [string, object, string, string])[] = [
    ["url", { url: "^https://www\\.example" }, "url", URL],
    ["headers", { headers: { server: "^Made/" } }, "header", "server: Made/1.2"],
    ["a header that is only there", { headers: { "X-Empty": "" } }, "header", "x-empty:"],
    ["cookies", { cookies: { made_sid: "" } }, "cookie", "made_sid"],
    ["a cookie's value", { cookies: { made_sid: "^7$" } }, "cookie", "made_sid"],
    ["cookies by wildcard", { cookies: { "_m_*": "" } }, "cookie", "_m_ABC123"],
    ["meta by name", { meta: { generator: "^Made" } }, "meta", "generator: Made 3.4.5"],
    ["meta by property", { meta: { "og:made": ["no", "yes"] } }, "meta", "og:made: yes"],
    ["html", { html: "made by hand" }, "html", "made by hand"],
    ["text across elements", { text: "Proudly made" }, "text", "Proudly made"],
    ["css", { css: "\\.made-box" }, "css", ".made-box"],
    ["scriptSrc, resolved by base", { scriptSrc: "/app/js/made-" }, "script_src", `${URL}app/js/made-2.0.1.min.js`],
    ["script, as older sets say", { script: "/made-" }, "script_src", `${URL}app/js/made-2.0.1.min.js`],
    ["scripts loaded by link", { scriptSrc: "chunk-made" }, "script_src", `${URL}app/chunk-made.mjs`],
    ["scripts", { scripts: "window\\.made" }, "script", "window.made"],
    ["robots", { robots: "/made-admin/" }, "robots", "/made-admin/"],
    ["dns", { dns: { MX: ["other", "made\\.test$"] } }, "dns", "MX: mx.made.test"],
    ["dns CNAME", { dns: { cname: "^made" } }, "dns", "CNAME: made.test"],
    ["certIssuer", { certIssuer: "^Made CA" }, "certificate_issuer", "Made CA 1"],
    ["xhr", { xhr: "made" }, "xhr", "api.made.test"],
    ["dom, a selector", { dom: "#made > .made-root" }, "dom", "#made > .made-root"],
    ["dom, a list", { dom: [".none", "div[data-made]"] }, "dom", "div[data-made]"],
    ["dom, exists", { dom: { "div.made-root": { exists: "" } } }, "dom", "div.made-root"],
    ["dom, text", { dom: { "p b": { text: "^made$" } } }, "dom", "p b made"],
    [
      "dom, attributes",
      { dom: { "[data-made]": [{ attributes: { "data-made": "^5" } }] } },
      "dom",
      '[data-made] data-made="5"',
    ],
    [
      "dom, a property that reflects",
      { dom: { div: { properties: { className: "made-root" } } } },
      "dom",
      'div class="made-root"',
    ],
  ];

  it.each(cases)("%s", (_, rule, type, match) => {
    expect(only(page, rule)?.evidence).toEqual([{ type, match }]);
  });

  it.each([
    ["what a browser alone knows", { js: { Made: "" }, probe: { "/made": "" } }],
    ["a property that exists only there", { dom: { div: { properties: { _reactRoot: "" } } } }],
    ["words of scripts as text", { text: "unseen words" }],
    ["a cookie whose wildcard overlaps itself", { cookies: { "made_s*_sid": "" } }],
    ["another value", { headers: { Server: "^nginx" } }],
  ])("%s shows nothing", (_, rule) => {
    expect(only(page, rule)).toBeNull();
  });
});

describe("versions", () => {
  it.each([
    ["a group", "Made ([\\d.]+)\\;version:\\1", "Made 3.4", "3.4"],
    ["letter case does not count", "MADE ([\\d.]+)\\;version:\\1", "made 3.4", "3.4"],
    ["a fixed one", "Made\\;version:2", "Made", "2"],
    ["two groups", "Made (\\d)-(\\d)\\;version:\\1.\\2", "Made 3-4", "3.4"],
    ["a ternary whose group took part", "Made( Pro)?\\;version:\\1?pro:free", "Made Pro", "pro"],
    ["a ternary whose group did not", "Made( Pro)?\\;version:\\1?pro:free", "Made", "free"],
    ["a ternary with an empty side", "Made( Pro)?\\;version:\\1?pro:", "Made", null],
    ["a ternary of groups", "Made (?:v(\\d)|r(\\d))\\;version:\\1?\\1:\\2", "Made r7", "7"],
    ["a ternary within a ternary", "Made (?:a(\\d)|b(\\d)|c)\\;version:\\1?A\\1:\\2?B\\2:C", "Made b5", "B5"],
    ["its last resort", "Made (?:a(\\d)|b(\\d)|c)\\;version:\\1?A\\1:\\2?B\\2:C", "Made c", "C"],
    ["text before a ternary", "Made( x)?\\;version:v\\1?1:2", "Made x", "v1"],
    ["a group that took no part", "Made( [\\d.]+)?\\;version:\\1", "Made", null],
    ["tags in any order", "Made ([\\d.]+)\\;confidence:40\\;version:\\1", "Made 3.4", "3.4"],
    ["without the dot of the sentence", "Made ([\\d.]+)\\;version:\\1", "Made 3.4.", "3.4"],
    ["a date is none", "Made (\\d+)\\;version:\\1", "Made 20240131", null],
    ["a page's markup is none", "Made (.+)\\;version:\\1", "Made <b>1</b>", null],
    ["nor is what is endless", "Made ([\\d.]+)\\;version:\\1", `Made 1${".0".repeat(30)}`, null],
  ])("%s", (_, pattern, generator, version) => {
    expect(only({ metas: [["generator", generator]] }, { meta: { generator: pattern } })?.version).toBe(version);
  });

  it("reports the most exact of several versions", () => {
    const rule = {
      headers: { server: "Made/(\\d+)\\;version:\\1" },
      meta: { generator: "Made ([\\d.]+)\\;version:\\1" },
    };
    expect(only({ headers: [["Server", "Made/3"]], metas: [["generator", "Made 3.4.1"]] }, rule)?.version).toBe(
      "3.4.1",
    );
  });

  it("fills the version into the CPE name", () => {
    const rule = { cpe: "cpe:2.3:a:f5:nginx:*:*:*:*:*:*:*:*", headers: { server: "nginx/([\\d.]+)\\;version:\\1" } };
    const cpeOf = (server: string) =>
      detect({ url: URL, headers: [["server", server]] }, { technologies: { It: rule } })[0]?.cpe;
    expect(cpeOf("nginx/1.24.0")).toBe("cpe:2.3:a:f5:nginx:1.24.0:*:*:*:*:*:*:*");
    expect(cpeOf("nginx/")).toBeUndefined();
  });
});

describe("confidence", () => {
  const rule = { html: ["one\\;confidence:30", "two\\;confidence:40", "three\\;confidence:50", "zero\\;confidence:0"] };

  it("adds up to a maximum of 100", () => {
    expect(only({ html: "one" }, rule)?.confidence).toBe(30);
    expect(only({ html: "one two" }, rule)?.confidence).toBe(70);
    expect(only({ html: "one two three" }, rule)?.confidence).toBe(100);
  });

  it("counts a pattern once, however often it matches", () => {
    const src = { scriptSrc: "made\\;confidence:20" };
    expect(only({ html: '<script src="/made1.js"></script><script src="/made2.js"></script>' }, src)?.confidence).toBe(
      20,
    );
  });

  it("leaves out a technology below the minimum of its rule", () => {
    const together = { html: ["one\\;confidence:30", "two\\;confidence:40"], least: 60 };
    expect(only({ html: "two" }, together)).toBeNull();
    expect(only({ html: "one two" }, together)?.confidence).toBe(70);
  });

  it("leaves out a technology with confidence 0", () => {
    expect(only({ html: "zero" }, rule)).toBeNull();
  });
});

describe("implied, required and excluded technologies", () => {
  it("adds implied technologies with at most the confidence of the one that implies them", () => {
    const technologies = {
      Shop: { html: "shop\\;confidence:60", implies: ["Blog", "Cache\\;confidence:20", "Nothing known"] },
      Blog: { implies: "Language\\;version:8" },
      Language: {},
      Cache: {},
    };
    const found = detect({ url: URL, html: "shop" }, { technologies });
    expect(found.map(({ name, confidence, version, implied_by }) => [name, confidence, version, implied_by])).toEqual([
      ["Blog", 60, null, "Shop"],
      ["Language", 60, "8", "Blog"],
      ["Shop", 60, null, null],
      ["Cache", 20, null, "Shop"],
    ]);
    expect(found[0]?.evidence).toEqual([{ type: "implied", match: "Shop" }]);
  });

  it("ends a cycle of implications", () => {
    expect(namesOf({ html: "a" }, { A: { html: "a", implies: "B" }, B: { implies: ["A", "B"] } })).toEqual(["A", "B"]);
  });

  it("tests a rule that requires another only if that one is detected or implied", () => {
    const technologies = {
      Plugin: { html: "plugin", requires: "Blog", implies: "Sub" },
      "Plugin of a plugin": { html: "plugin", requires: ["Nobody", "Sub"] },
      Blog: {},
      Sub: {},
      Shop: { html: "shop", implies: "Blog" },
    };
    expect(namesOf({ html: "plugin" }, technologies)).toEqual([]);
    expect(namesOf({ html: "plugin shop" }, technologies)).toEqual([
      "Blog",
      "Plugin",
      "Plugin of a plugin",
      "Shop",
      "Sub",
    ]);
  });

  it("tests a rule that requires a category only if a technology of it is found", () => {
    const technologies = {
      Theme: { html: "theme", requiresCategory: 1 },
      Blog: { cats: [1], html: "blog" },
      Other: { cats: [2], html: "other" },
    };
    expect(namesOf({ html: "theme other" }, technologies)).toEqual(["Other"]);
    expect(namesOf({ html: "theme blog" }, technologies)).toEqual(["Blog", "Theme"]);
  });

  it("keeps the more certain of two that exclude each other, and does not imply the excluded one", () => {
    const technologies = {
      Old: { html: "old\\;confidence:50", excludes: "New" },
      New: { html: "new", excludes: ["Old", "Older"] },
      Fan: { html: "fan", implies: "Older" },
      Older: {},
    };
    expect(namesOf({ html: "old" }, technologies)).toEqual(["Old"]);
    expect(namesOf({ html: "old new fan" }, technologies)).toEqual(["Fan", "New"]);
  });
});

describe("rules of any quality", () => {
  it("finds nothing on an empty page", () => {
    expect(detect({ url: URL }, { technologies: { A: { html: "x" } } })).toEqual([]);
    expect(detect({ url: "not a url", html: "\0" }, { technologies: {} })).toEqual([]);
  });

  it("skips an unusable line without an effect on others", () => {
    const technologies = {
      A: { html: ["(", "a"], dom: ["p:hover", { "p::before": { exists: "" } }], headers: 5, cats: "x", implies: 7 },
      B: null,
      C: { cookies: { c: 5 }, dom: { p: { sounds: "" } }, html: "a" },
      ["__proto__"]: { html: "a" },
    };
    expect(namesOf({ html: "<p>a" }, technologies)).toEqual(["A", "C", "__proto__"]);
  });

  it("keeps evidence short and without control characters", () => {
    const found = only({ headers: [["X-It", `it\u0007\n${"é".repeat(5000)}`]] }, { headers: { "x-it": ".+[^]*" } });
    const match = found?.evidence[0]?.match ?? "";
    expect(match.length).toBeLessThanOrEqual(160);
    expect(match).toMatch(/^x-it: it é+…$/);
  });

  it("shows up to six pieces of evidence, each once", () => {
    const html =
      '<script src="/it.js"></script>'.repeat(3) +
      Array.from({ length: 20 }, (_, n) => `<script src="/it${n}.js"></script>`).join("");
    expect(only({ html }, { scriptSrc: "/it" })?.evidence).toHaveLength(6);
  });
});
