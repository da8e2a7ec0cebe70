import { describe, expect, it } from "vitest";
import { factOf, presentExample } from "#test/shared/tools/examples.ts";
import { ogPreview } from "#shared/tools/og-preview/contract.ts";

describe("the presentation of og-preview", () => {
  it("says what a shared link shows", () => {
    const shown = presentExample(ogPreview);
    expect(shown.verdict).toBe("good");
    expect(shown.headline).toBe('A link to shop.test shows "Oak & Lumen" and a large image');
    expect(factOf(shown, "Image")).toBe("1200 x 630, png, 64 kB");
  });

  it("names the properties that are missing, and that there is no image", () => {
    const shown = presentExample(ogPreview, ({ preview, og, findings }) => ({
      missing_required: ["og:title", "og:image"],
      image_check: null,
      og: { ...og, image: [] },
      preview: { ...preview, facebook: { ...preview.facebook, title: null, image: null, layout: "no_image" } },
      findings: findings.map((one) => ({ ...one, severity: "warning" })),
    }));
    expect(shown.verdict).toBe("warning");
    expect(shown.headline).toBe(
      "A link to shop.test shows no title and no image, but the page lacks og:title and og:image",
    );
    expect([factOf(shown, "Title"), factOf(shown, "Image")]).toEqual(["none", "none"]);
  });

  it("says that the image does not load, and why", () => {
    const shown = presentExample(ogPreview, ({ image_check: image }) => ({
      image_check: { ...image, code: 404, format: null, width: null, height: null, bytes: null },
    }));
    expect(shown.headline).toMatch(/and a large image, but its image does not load$/);
    expect(shown.facts.find(({ label }) => label === "Image")).toMatchObject({
      value: "fails with status 404",
      tone: "warning",
    });
    const lost = presentExample(ogPreview, ({ image_check: image }) => ({
      image_check: { ...image, code: null, format: null, error: "connection refused" },
    }));
    expect(factOf(lost, "Image")).toBe("connection refused");
  });

  it("keeps the answer of the headline whole behind a long address and a long title", () => {
    const shown = presentExample(ogPreview, ({ preview }) => ({
      final_url: `https://shop.test/${"a".repeat(3_000)}`,
      preview: { ...preview, facebook: { ...preview.facebook, title: "b".repeat(3_000) } },
      missing_required: ["og:url"],
    }));
    expect(shown.headline).toMatch(/… shows "b+…" and a large image, but the page lacks og:url$/);
  });
});
