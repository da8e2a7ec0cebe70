import { describe, expect, it } from "vitest";
import { sortFindings } from "#shared/contracts/findings.ts";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";
import { findMixedContent } from "#probe-agent/analysis/page/mixed-content.ts";
import { describeMixedContent, mixedContentReport } from "#probe-agent/tools/mixed-content/report.ts";
import { expectWellFormed, kinds } from "#test/support/findings.ts";

const SCRIPT = "<script src=http://a.example/x.js></script>";
const IMAGE = "<img src=http://a.example/x.png>";
const ADDRESS = "<img src=http://192.0.2.1/x.png>";
const FORM = "<form action=http://a.example/send></form>";

it.each<[what: string, html: string, url: string, policy: "none" | "upgrade" | "block", kinds: readonly string[]]>([
  ["nothing insecure", "<p>", "https://example.com/", "none", []],
  ["a page over http", SCRIPT, "http://example.com/", "none", ["warning page-not-encrypted"]],
  ["a script", SCRIPT, "https://example.com/", "none", ["warning active-content-blocked"]],
  ["a script that the policy upgrades", SCRIPT, "https://example.com/", "upgrade", ["info active-content-upgraded"]],
  ["an image", IMAGE, "https://example.com/", "none", ["info passive-content-upgraded"]],
  ["an image at an IP address", ADDRESS, "https://example.com/", "none", ["warning passive-content-blocked"]],
  ["an image that the policy blocks", IMAGE, "https://example.com/", "block", ["warning passive-content-blocked"]],
  ["a form", FORM, "https://example.com/", "none", ["warning form-not-encrypted"]],
])("%s", (_, html, url, policy, expected) => {
  const blockAllMixedContent = policy === "block";
  const found = findMixedContent(readHtml(html), url, {
    upgradeInsecureRequests: policy === "upgrade",
    blockAllMixedContent,
  });
  const findings = sortFindings(describeMixedContent(found, blockAllMixedContent));
  expectWellFormed(findings);
  expect(kinds(findings)).toEqual(expected);
  for (const { how } of findings) expect(how).toMatch(/https/);
});

it("names three references and their lines in a message", () => {
  const found = findMixedContent(readHtml(`${IMAGE}\n`.repeat(5)), "https://example.com/", {
    upgradeInsecureRequests: false,
    blockAllMixedContent: false,
  });
  expect(describeMixedContent(found, false)[0]?.message).toContain(
    "5 http references to images, audio or video over https: http://a.example/x.png (line 1), http://a.example/x.png (line 2), http://a.example/x.png (line 3), ...",
  );
});

describe("the policy of a page", () => {
  const META = '<meta http-equiv="Content-Security-Policy" content="upgrade-insecure-requests">';
  const BOTH = "block-all-mixed-content; upgrade-insecure-requests";
  it.each<[what: string, html: string, header: readonly [string, string] | null, verdict: string, does: string]>([
    ["in the head upgrades", META + IMAGE, null, "passive", "upgrades"],
    ["in the body does nothing", `<body>${META}${IMAGE}`, null, "passive", "nothing"],
    [
      "in a header blocks",
      IMAGE,
      ["content-security-policy", "default-src *, block-all-mixed-content"],
      "blocked",
      "blocks",
    ],
    ["that only reports does nothing", IMAGE, ["content-security-policy-report-only", BOTH], "passive", "nothing"],
  ])("%s", (_what, html, header, verdict, does) => {
    const { fields } = mixedContentReport({
      url: "https://example.com/",
      status: 200,
      contentType: "text/html",
      headers: header === null ? [] : [header],
      page: readHtml(html),
      unread: false,
    });
    expect(fields).toMatchObject({
      verdict,
      upgrade_insecure_requests: does === "upgrades",
      block_all: does === "blocks",
    });
  });
});
