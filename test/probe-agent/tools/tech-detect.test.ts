import { describe, expect, it } from "vitest";
import { MAX_RESULT_BYTES } from "#shared/protocol/wire.ts";
import type { RuleData } from "#probe-agent/analysis/page/tech/rule.ts";
import { techDetect } from "#probe-agent/tools/tech-detect.ts";
import { startDnsServer } from "#test/servers/dns.ts";
import { startHttpServer } from "#test/servers/http.ts";
import { createPki } from "#test/servers/pki.ts";
import { identityOf } from "#test/support/http-engine.ts";
import { resultOf } from "#test/support/tool.ts";
import { endsBy } from "#test/support/deadlines.ts";
import { stopAfterAll } from "#test/support/stop-after-all.ts";

const HTML = { "content-type": "text/html; charset=utf-8" };
const NO_SCRIPTS = "Scripts were read but not run";

const pki = await createPki();
const names = await stopAfterAll(
  startDnsServer({
    zones: {
      "made.test": {
        SOA: ["ns.made.test. admin.made.test. 1 1 1 1 1"],
        MX: ["1 aspmx.l.google.com."],
        TXT: ['"v=spf1 include:amazonses.com -all"'],
        NS: ["ns-1.awsdns-01.org."],
      },
      "www.made.test": { CNAME: ["edge.netlify.app."] },
      "edge.netlify.app": { A: ["127.0.0.1"] },
      "slow.test": { A: ["127.0.0.1"], NS: ["ns-1.awsdns-01.org."] },
    },
    behaviours: { "slow.test/MX": { drop: true }, "slow.test/TXT": { drop: true } },
  }),
);
const leaf = await pki.issue({
  dns: ["www.made.test", "slow.test"],
  issuer: await pki.issue({ subject: "CN=R3, O=Let's Encrypt", ca: true }),
});
const site = await stopAfterAll(
  startHttpServer({
    tls: identityOf(leaf),
    handler: (_request, response, { path }) => {
      if (path === "/") {
        response
          .writeHead(200, { ...HTML, server: "nginx/1.24.0", "set-cookie": ["PHPSESSID=secret; Path=/"] })
          .end('<!doctype html><meta name=generator content="WordPress 6.4.2"><p>text');
      } else if (path === "/robots.txt") {
        response.writeHead(200, { "content-type": "text/plain" }).end("User-agent: *\nDisallow: /wp-admin/\n");
      } else if (path === "/moved") response.writeHead(302, { location: "/", "set-cookie": "laravel_session=x" }).end();
      else if (path === "/json")
        response.writeHead(200, { "content-type": "application/json", server: "Kestrel" }).end("{}");
      else if (path === "/down") response.writeHead(503, { ...HTML, server: "Apache" }).end("<title>Down</title>");
      else if (path === "/huge")
        response
          .writeHead(200, HTML)
          .end(`<!doctype html><div id=__next></div>${"<p class='x y'>text".repeat(300_000)}`);
      else if (path === "/bomb")
        response.writeHead(200, { ...HTML, server: "nginx" }).end(`<!doctype html><p>${"a".repeat(50_000)}!`);
      else return false;
      return true;
    },
  }),
);
const base = `https://www.made.test:${site.port}`;

function detectOn(path: string, more: Parameters<typeof resultOf>[2] = {}) {
  return resultOf(techDetect, { url: `${base}${path}` }, { dnsServers: [names.address], ...more });
}

describe("a page", () => {
  it("is fingerprinted by its markup, headers, cookies, robots.txt, DNS and certificate", async () => {
    const result = await detectOn("/");
    const found = new Map(result.technologies.map((one) => [one.name, one]));
    expect([...found.keys()].toSorted()).toEqual([
      "Amazon Route 53",
      "Amazon SES",
      "Amazon Web Services",
      "Google Workspace",
      "Let's Encrypt",
      "MySQL",
      "Netlify",
      "Nginx",
      "PHP",
      "WordPress",
    ]);
    expect(result.count).toBe(10);
    expect(found.get("WordPress")).toEqual({
      name: "WordPress",
      slug: "wordpress",
      categories: [
        { id: 1, name: "CMS" },
        { id: 11, name: "Blogs" },
      ],
      version: "6.4.2",
      confidence: 100,
      evidence: [
        { type: "robots", match: "Disallow: /wp-admin/" },
        { type: "meta", match: "generator: WordPress 6.4.2" },
      ],
      website: "https://wordpress.org",
      cpe: "cpe:2.3:a:wordpress:wordpress:6.4.2:*:*:*:*:*:*:*",
      implied_by: null,
    });
    expect(found.get("MySQL")).toMatchObject({ implied_by: "WordPress", confidence: 50, version: null });
    expect(found.get("PHP")?.evidence).toEqual([{ type: "cookie", match: "PHPSESSID" }]);
    expect(found.get("Netlify")?.evidence).toEqual([{ type: "dns", match: "CNAME: edge.netlify.app" }]);
    expect(found.get("Google Workspace")?.evidence).toEqual([{ type: "dns", match: "MX: aspmx.l.google.com" }]);
    expect(found.get("Let's Encrypt")?.evidence).toEqual([{ type: "certificate_issuer", match: "Let's Encrypt" }]);
    expect(result.categories["CMS"]).toEqual(["WordPress"]);
    expect(result.categories["Email"]).toEqual(["Amazon SES", "Google Workspace"]);
    expect(result.source).toEqual(["page", "robots", "dns", "certificate"]);
    expect(result.js_detection).toBe("static");
    expect(result.limitations).toEqual([expect.stringContaining(NO_SCRIPTS)]);
    expect(JSON.stringify(result)).not.toContain("secret");
  });

  it("is the one after redirects, with the cookies that its host set on the way", async () => {
    const result = await detectOn("/moved");
    expect(result.final_url).toBe(`${base}/`);
    expect(result.technologies.map(({ name }) => name)).toContain("Laravel");
  });

  it("is fingerprinted by its headers if it is not HTML", async () => {
    const result = await detectOn("/json");
    expect(result.technologies.map(({ name }) => name)).toContain("Kestrel");
    expect(result.limitations.join(" ")).toMatch(/not HTML/);
  });

  it("is fingerprinted if it is an error page, and the result says so", async () => {
    const result = await detectOn("/down");
    expect(result.code).toBe(503);
    expect(result.technologies.map(({ name }) => name)).toContain("Apache HTTP Server");
    expect(result.limitations.join(" ")).toMatch(/status 503/);
  });

  it("is fingerprinted by its first 5 MB if it is larger", async () => {
    const result = await detectOn("/huge");
    expect(result.technologies.map(({ name }) => name)).toContain("Next.js");
    expect(result.limitations.join(" ")).toMatch(/larger than the part that was examined/);
  });

  it("does not wait for a name server that never replies", async () => {
    const result = await resultOf(
      techDetect,
      { url: `https://slow.test:${site.port}/` },
      { dnsServers: [names.address] },
    );
    expect(result.technologies.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["WordPress", "Amazon Route 53"]),
    );
    expect(result.limitations.join(" ")).toMatch(/lookup of some DNS records timed out or failed/);
  });
});

describe("the operator's own rules", () => {
  const rulesOf = (technologies: Readonly<Record<string, unknown>>): RuleData => ({
    technologies: Object.entries(technologies),
    categories: [["1", { name: "Ours" }]],
  });

  it("replace the built-in rules; their unusable patterns are counted", async () => {
    const techRules = rulesOf({ Mine: { cats: [1, 99], text: "text" }, Broken: { html: "(" } });
    const result = await detectOn("/", { data: { techRules } });
    expect(result.technologies.map(({ name }) => name)).toEqual(["Mine"]);
    expect(result.categories).toEqual({ Ours: ["Mine"], Unknown: ["Mine"] });
    expect(result.rules).toEqual({ technologies: 2, unusable: 1 });
  });

  it("can contain an endless expression: the other rules are tested in time, and the result says so", async () => {
    const techRules = rulesOf({ Bad: { text: "(a+)+$" }, Nginx: { headers: { server: "nginx" } } });
    const url = `${base}/bomb`;
    const result = await endsBy(techDetect.contract.deadlineMs({ url }), () =>
      detectOn("/bomb", { data: { techRules } }),
    );
    expect(result.technologies.map(({ name }) => name)).toEqual(["Nginx"]);
    expect(result.limitations.join(" ")).toMatch(/took too long .*\(1\): Bad\./);
  });

  it("keep the result within its size limit, however many technologies match", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 3000 }, (_, n) => [
        `Technology ${n} ${"é".repeat(100)}`,
        { cats: [1], html: ".+", text: ".+" },
      ]),
    );
    const result = await detectOn("/", { data: { techRules: rulesOf(many) } });
    expect(result.count).toBe(3000);
    expect(result.technologies.length).toBeGreaterThan(100);
    expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThan(MAX_RESULT_BYTES);
    expect(result.limitations.join(" ")).toMatch(/of 3000 technologies with the highest confidence/);
  });
});
