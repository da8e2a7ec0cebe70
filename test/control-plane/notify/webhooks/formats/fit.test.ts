import { describe, expect, it } from "vitest";
import { backslashed, escaper, fit, jsonBytes, verbatim } from "#control-plane/notify/webhooks/formats/fit.ts";

const html = escaper({ "&": "&amp;", "<": "&lt;" });

describe("a text that a provider limits", () => {
  it.each([
    ["short", 5, "short"],
    ["longer", 5, "long…"],
    ["💥💥💥", 6, "💥💥💥"],
    ["💥💥💥💥", 6, "💥💥…"],
    ["", 5, ""],
  ])("%j of at most %i becomes %j", (text, most, kept) => expect(fit(text, most)).toBe(kept));

  it("is cut after its escape, and no escape is split", () => {
    expect(fit("a<b", 6, html)).toBe("a&lt;b");
    expect(fit("a<b<c", 7, html)).toBe("a&lt;b…");
    expect(fit("&&&", 9, html)).toBe("&amp;…");
    expect(fit("a*b*c", 5, backslashed("*"))).toBe("a\\*b…");
  });

  it("is measured in bytes of JSON where the limit is one of bytes", () => {
    expect(jsonBytes('é"\n💥')).toBe(2 + 2 + 2 + 4);
    expect(fit('""""', 7, verbatim, jsonBytes)).toBe('""…');
    expect(fit("ééé", 6, verbatim, jsonBytes)).toBe("ééé");
    expect(fit("éééé", 7, verbatim, jsonBytes)).toBe("éé…");
  });
});
