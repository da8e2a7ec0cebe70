import { expect, it } from "vitest";
import { adviseOn, finding } from "#probe-agent/analysis/text/findings.ts";

const TABLE = {
  old_version: {
    severity: "warning",
    how: (host: string, where: string | null) => `Update ${where} of ${host}.`,
    reference: "https://a.example/",
  },
} as const;

it("a draft gets what the table says of its kind, with an id in kebab-case and the place of all if it has none", () => {
  expect(adviseOn(TABLE, [finding("old_version", null, "Old.")], "b.example", "tls")).toEqual([
    {
      id: "old-version",
      severity: "warning",
      message: "Old.",
      how: "Update tls of b.example.",
      reference: "https://a.example/",
      where: "tls",
    },
  ]);
});

it("a draft can decide severity, advice and reference itself, also that there is none", () => {
  const draft = { ...finding("old_version", "h2", "Old.", "info"), how: null, reference: null };
  expect(adviseOn(TABLE, [draft], "b.example", "tls")).toEqual([
    { id: "old-version", severity: "info", message: "Old.", how: null, reference: null, where: "h2" },
  ]);
});
