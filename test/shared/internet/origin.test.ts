import { expect, it } from "vitest";
import { readOrigin } from "#shared/internet/origin.ts";

it.each([
  ["https://example.com", "https://example.com"],
  ["HTTPS://Example.COM:443", "https://example.com"],
  ["http://localhost:3000", "http://localhost:3000"],
  ["https://bücher.example", "https://xn--bcher-kva.example"],
  ["http://[::1]:8080", "http://[::1]:8080"],
  ["Chrome-Extension://abcdef", "chrome-extension://abcdef"],
  ["capacitor://localhost", "capacitor://localhost"],
  ["null", "null"],
])("parses %s", (text, origin) => {
  expect(readOrigin(text)).toBe(origin);
});

it.each([
  "",
  "example.com",
  "https://",
  "https://example.com/",
  "https://example.com/path",
  "https://example.com?q",
  "https://example.com#f",
  "https://user@example.com",
  "https://example.com\\x",
  "https://exa mple.com",
  "https://example.com\r\nX-Injected: 1",
  "https://example.com\u0000",
  "https://example.com:99999",
  "https://a https://b",
  "file:///etc",
  "capacitor://bücher",
  "NULL",
  "*",
  `https://${"a".repeat(600)}`,
])("rejects %j", (text) => {
  expect(readOrigin(text)).toBeNull();
});
