import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { Parser } from "htmlparser2";
import { describe, expect, it } from "vitest";
import { CONTRACTS } from "#shared/tools/index.ts";
import { renderMessage } from "#control-plane/core/pages/layout.ts";
import { exampleOf } from "#control-plane/surfaces/api-document/components.ts";
import { renderSharePage } from "#control-plane/surfaces/share-page.ts";

const HOSTILE = [
  `"><script>alert(1)</script>`,
  `'><img src=x onerror=alert(1)>`,
  "</title></style></td></table><iframe src=//evil.example>",
  "<%= it %><%~ it %><% output(1) %>",
  "<!-- <![CDATA[ &lt;b&gt; javascript:alert(1)",
];

const NOW = new Date("2026-11-27T12:00:00Z");

type Shown = Parameters<typeof renderSharePage>[0];

/** Renders the page of a tool's recorded answer, with every text and every name changed by `mark`. */
function pageOf(tool: string, mark: (text: string) => string, repeated = 1): string {
  const { params = {}, data = {} } = exampleOf(tool) ?? {};
  const place = { region: "eu", country: "DE", city: "Berlin", asn: 64_500, latitude: null, longitude: null };
  const error = {
    code: "request_failed",
    message: "No such name.",
    stage: "dns",
    source: "target",
    reason: "nxdomain",
  };
  const shown = {
    share_id: "abc",
    tool,
    title: "A title",
    target: "example.com",
    params,
    status: "completed",
    total: 2,
    completed: 2,
    created_at: "2026-01-01T00:00:00.000Z",
    finished_at: "2026-01-01T00:00:01.000Z",
    data: {
      locations: [
        ...Array.from({ length: repeated }, () => ({
          location: place,
          status: "ok",
          duration_ms: 12,
          data: changeEvery(data, mark),
        })),
        { location: changeEvery(place, mark), status: "failed", duration_ms: 12, error: changeEvery(error, mark) },
      ],
      summary: changeEvery({ total: 2, ok: 1, consistent: null }, mark),
    },
  };
  const texts = Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [
      name,
      typeof value === "string" && name !== "status" ? mark(value) : value,
    ]),
  );
  const contract = CONTRACTS.find(({ name }) => name === tool);
  return String(renderSharePage({ ...texts, params: changeEvery(params, mark) } as unknown as Shown, contract, NOW));
}

function changeEvery(value: unknown, mark: (text: string) => string): unknown {
  if (typeof value === "string") return mark(value);
  if (Array.isArray(value)) return value.map((inner) => changeEvery(inner, mark));
  if (typeof value !== "object" || value === null) return value;
  const kept = new Set(["region", "city", "country", "asn", "latitude", "longitude", "message"]);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [kept.has(name) ? name : mark(name), changeEvery(inner, mark)]),
  );
}

/** Returns the tags with their attributes, in order, and the text between them. */
function readPage(html: string) {
  const tags: string[] = [];
  let text = "";
  const parser = new Parser({
    onopentag: (name, attributes) => tags.push(`${name} ${Object.keys(attributes).join(" ")}`),
    oncomment: () => tags.push("comment"),
    onprocessinginstruction: (name) => tags.push(name),
    ontext: (part) => (text += part),
  });
  parser.end(html);
  return { tags, text };
}

/** All elements with their attributes that pages of recorded answers have. */
const ELEMENTS = new Set(CONTRACTS.flatMap(({ name }) => readPage(pageOf(name, (text) => text)).tags));

describe("the page of a shared answer", () => {
  it.each(CONTRACTS.map(({ name }) => name))("has no other elements for %s, whatever its texts are", (tool) => {
    for (const hostile of HOSTILE) {
      for (const mark of [(given: string) => `${given.slice(0, 50)}${hostile}`, (given: string) => hostile + given]) {
        const { tags, text } = readPage(pageOf(tool, mark));
        expect(tags.filter((tag) => !ELEMENTS.has(tag))).toEqual([]);
        // It is on the page, as text.
        expect(text).toContain(hostile);
      }
    }
  });

  it.each(CONTRACTS.map(({ name }) => name))(
    "begins for %s with the headline, and has its data folded at the end",
    (tool) => {
      const html = pageOf(tool, (text) => text);
      const { tags, text } = readPage(html);
      expect(tags.filter((tag) => tag.startsWith("h1"))).toHaveLength(1);
      expect(tags.findLastIndex((tag) => tag.startsWith("details"))).toBeGreaterThan(
        tags.findIndex((tag) => tag.startsWith("h2")),
      );
      expect(text).toContain("From eu, Berlin, DE, AS64500");
      expect(text).toContain("Failed: No such name.");
      // The page of an ordinary answer fits into one round of a fast connection.
      expect(gzipSync(html).length).toBeLessThan(60_000);
    },
  );

  it("has at most 60 kB compressed, however long and random the texts of the target are", () => {
    const random = (given: string) => given.slice(0, 10) + randomBytes(300).toString("base64");
    for (const tool of ["check", "health", "tech-detect", "dns"]) {
      const html = pageOf(tool, random, 20);
      expect(gzipSync(html).length).toBeLessThan(60_000);
    }
  });

  it("of an error also shows text only", () => {
    for (const hostile of HOSTILE) {
      const { tags, text } = readPage(String(renderMessage(hostile, hostile)));
      expect(tags).toEqual(readPage(String(renderMessage("a", "b"))).tags);
      expect(text.split(hostile)).toHaveLength(4);
    }
  });
});
