import { describe, expect, it } from "vitest";
import type { CheckId } from "#probe-agent/analysis/site/checks.ts";
import { findingsOf } from "#probe-agent/tools/health/report.ts";
import type { HealthSnapshot } from "#probe-agent/analysis/site/snapshot.ts";
import { unknown } from "#probe-agent/analysis/text/unknown-fact.ts";
import { readHtml, readPage } from "#probe-agent/analysis/html/read-page.ts";
import type { HeaderPair } from "#probe-agent/analysis/http/header-list.ts";
import { PERFECT } from "#test/probe-agent/analysis/site/snapshots.ts";

function points(id: CheckId, change: Partial<HealthSnapshot>): number | null {
  return findingsOf({ ...PERFECT, ...change })[id].score;
}

describe("Best Practices", () => {
  const html = (id: CheckId, text: string) => points(id, { page: readHtml(text) });
  it("status", () => {
    expect([204, 301, 401, 403, 404, 500].map((status) => points("status", { status }))).toEqual([3, 1, 1, 1, 0, 0]);
  });
  it("leaves out the page's own checks if the response is not HTML", () => {
    const ids: CheckId[] = ["title_desc", "lang", "viewport", "doctype_charset", "mixed_content"];
    expect(ids.map((id) => points(id, { page: null }))).toEqual([null, null, null, null, null]);
  });
  it("leaves out checks of a page that is too complex to analyse, and keeps those of its headers", () => {
    const left = { page: null, unread: true };
    expect(findingsOf({ ...PERFECT, ...left }).title_desc.detail).toMatch(/too complex to analyse/);
    expect(points("csp", left)).toBe(9);
    expect(points("csp", { ...left, headers: [] })).toBeNull();
    expect(points("csp", { page: null, headers: [] })).toBe(0);
    expect(points("referrer", { ...left, headers: [] })).toBeNull();
    expect(points("nosniff", { ...left, headers: [] })).toBe(0);
  });
  it("mixed_content", () => {
    const page = readHtml("<script src=http://a.example/x.js></script>");
    expect(points("mixed_content", { page })).toBe(0);
    expect(points("mixed_content", { page, headers: [["content-security-policy", "upgrade-insecure-requests"]] })).toBe(
      2,
    );
    expect(html("mixed_content", "<img src=http://a.example/x.png>")).toBe(2);
    expect(points("mixed_content", { page, finalUrl: "http://example.com/" })).toBeNull();
  });
  it("title_desc, lang, viewport and doctype_charset", () => {
    expect([
      html("title_desc", "<title>x</title>"),
      html("title_desc", "<meta name=description content=x>"),
      html("title_desc", "<title></title>"),
    ]).toEqual([2, 1, 0]);
    expect(
      ["en", "zh-Hant-TW", "x-own", "en_US", "", "english language"].map((lang) =>
        html("lang", `<html lang="${lang}">`),
      ),
    ).toEqual([2, 2, 2, 0, 0, 0]);
    const viewport = (content: string) => html("viewport", `<meta name=viewport content="${content}">`);
    expect(viewport("width = device-width; initial-scale=1")).toBe(2);
    expect(viewport("width=1024")).toBe(0);
    expect(viewport("width=device-width, user-scalable=no")).toBe(0);
    const encoded = (text: string) => points("doctype_charset", { page: readPage(Buffer.from(text), "text/html") });
    expect([encoded("<!DOCTYPE html><meta charset=utf-8>"), encoded("<!doctype html>"), encoded("<p>")]).toEqual([
      2, 1, 0,
    ]);
  });
  it("cookies say in a sentence what is missing", () => {
    const detail = (line: string) => findingsOf({ ...PERFECT, headers: [["set-cookie", line]] }).cookies.detail;
    expect(detail("a=b")).toBe("A cookie has no Secure: browsers also send it over unencrypted HTTP.");
    expect(detail("a=b; Secure")).toMatch(/^Every cookie is limited to HTTPS/);
  });
  it("cookies", () => {
    const cookies = (...lines: string[]) =>
      points("cookies", { headers: lines.map((line): HeaderPair => ["set-cookie", line]) });
    expect([cookies(), cookies("a=b; Secure"), cookies("a=b")]).toEqual([null, 2, 0]);
    expect(
      points("cookies", {
        headers: [
          ["strict-transport-security", "max-age=31536000"],
          ["set-cookie", "a=b"],
        ],
      }),
    ).toBe(1);
  });
  it("indexable_robots, security_txt and ipv6", () => {
    const robots = (status: number, text: string | null) =>
      points("indexable_robots", { robots: { known: true, status, url: "x", text } });
    expect([
      robots(200, "User-agent: *"),
      robots(200, null),
      robots(404, null),
      robots(503, null),
      robots(301, null),
    ]).toEqual([1, 0, 1, 0, 0]);
    const txt = (text: string | null, status = 200) =>
      points("security_txt", {
        securityTxt: { known: true, status, url: "https://example.com/.well-known/security.txt", text },
      });
    expect([
      txt("Contact: tel:+1\nExpires: 2026-03-02T00:00:00Z"),
      txt("Contact: tel:+1\nExpires: 2026-02-28T00:00:00Z"),
      txt(null),
      txt("x", 404),
    ]).toEqual([1, 0, 0, 0]);
    expect(points("ipv6", { ipv6: { known: true, address: null, answers: false, why: "none" } })).toBe(0);
    expect(points("ipv6", { ipv6: unknown("why") })).toBeNull();
  });
});
