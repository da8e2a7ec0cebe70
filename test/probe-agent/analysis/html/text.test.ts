import { describe, expect, it } from "vitest";
import { visibleText } from "#probe-agent/analysis/html/text.ts";
import { countWords } from "#probe-agent/analysis/html/count-words.ts";
import { readHtml } from "#probe-agent/analysis/html/read-page.ts";

const textOf = (html: string, limit?: number): string => visibleText(readHtml(html).document.root, limit).text;

describe("visible text", () => {
  it("separates blocks, not words", () => {
    expect(textOf("<p>one</p><p>t<b>w</b>o</p><ul><li>three<li>four</ul>five<br>six")).toBe(
      "one two three four five six",
    );
    expect(textOf("<div>a<div>b</div>c</div>d")).toBe("a b c d");
  });
  it("leaves out hidden elements", () => {
    expect(
      textOf(
        "<head><title>no</title><style>no</style></head><body>yes<script>no</script><noscript>no</noscript>" +
          "<template>no</template><p hidden>no</p><p style='color:red; display : none'>no</p><!-- no --><svg><text>no</text></svg> too",
      ),
    ).toBe("yes too");
    expect(textOf("<p style='display:block'>yes")).toBe("yes");
  });
  it("is bounded, and fast for a page of any shape", () => {
    expect(visibleText(readHtml(`<p>${"word ".repeat(1000)}`).document.root, 100)).toMatchObject({ truncated: true });
    expect(textOf("<div>".repeat(100_000))).toBe("");
    expect(textOf("<p>x</p>".repeat(140_000)).length).toBe(279_999);
  });
});

describe("words", () => {
  const rows: readonly (readonly [text: string, words: number])[] = [
    ["", 0],
    ["one, two; three!", 3],
    ["don't re-do l’été", 3],
    ["— … ' -", 0],
    ["Привет мир", 2],
    ["مرحبا بالعالم", 2],
    ["한국어 단어", 2],
    ["2026 was 1", 3],
  ];
  it.each(rows)("%s", (text, words) => {
    expect(countWords(text)).toEqual({ words, complete: true });
  });
  it("are found by dictionary if there are no spaces between them", () => {
    expect(countWords("我喜欢学习中文").words).toBeGreaterThanOrEqual(3);
    expect(countWords("ภาษาไทยง่ายมาก").words).toBeGreaterThanOrEqual(3);
    const mixed = countWords("Node.js で書く");
    expect(mixed.words).toBeGreaterThanOrEqual(4);
  });
  it("are not all counted if there is too much of such text, and the result says so", () => {
    const { words, complete } = countWords("中文".repeat(300_000));
    expect(complete).toBe(false);
    expect(words).toBeGreaterThan(1000);
    expect(countWords("a ".repeat(1_000_000))).toEqual({ words: 1_000_000, complete: true });
  });
});
