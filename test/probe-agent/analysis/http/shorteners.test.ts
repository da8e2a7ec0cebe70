import { expect, it } from "vitest";
import { shortenerOf } from "#probe-agent/analysis/http/shorteners.ts";

it.each([
  ["bit.ly", "Bitly"],
  ["www.tinyurl.com", "TinyURL"],
  ["t.co", "X"],
  ["maps.app.goo.gl", "Google"],
  ["shop.page.link", "Firebase Dynamic Links"],
  ["goo.gl.", "Google"],
])("%s belongs to %s", (host, service) => {
  expect(shortenerOf(host)).toBe(service);
});

it.each(["example.com", "not-bit.ly", "bit.ly.example.com", "page.link", "a.b.page.link", "ly", "", "constructor"])(
  "%j belongs to no shortener",
  (host) => {
    expect(shortenerOf(host)).toBeNull();
  },
);
