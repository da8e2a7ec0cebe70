import { existing, fact, table } from "#shared/presentation/build.ts";
import { definePresenter } from "#shared/tools/define-presenter.ts";
import { namePage, pageFacts, verdictOfPage } from "#shared/presentation/page.ts";
import { bytes, yesNo } from "#shared/presentation/values.ts";
import { verdictOf } from "#shared/presentation/verdict.ts";
import { listAll } from "#shared/text/list.ts";
import { toPlainLine } from "#shared/text/plain-line.ts";
import type { ResultOf } from "#shared/tools/define.ts";
import { ogPreview as contract } from "#shared/tools/og-preview/contract.ts";

type OgPreview = ResultOf<typeof contract>;

/** Maximum number of characters of a title in the headline. */
const MOST_TITLE = 80;

const PLATFORMS = { facebook: "Facebook", x: "X", linkedin: "LinkedIn", slack: "Slack" } as const;
const LAYOUTS = {
  large: "large",
  small: "small",
  no_image: "none",
  no_card: "bare link",
  unknown: "size unknown",
} as const;

/** og-preview: what a shared link shows, its image, and the preview on each platform. */
export const ogPreview = definePresenter(contract, (data) => {
  const { og, twitter, fallback, preview, missing_required: missing, findings } = data;
  const { facebook } = preview;
  return {
    verdict: verdictOfPage(data, verdictOf(findings)),
    headline: headlineOf(data),
    facts: existing(
      fact("Title", facebook.title ?? "none", { tone: facebook.title === null ? "warning" : null }),
      fact("Description", facebook.description ?? "none"),
      fact("Image", describeImage(data), { tone: isImageLost(data) ? "warning" : null }),
      fact("Missing", missing.join(", "), { tone: "warning" }),
      fact("Image address", facebook.image),
      fact("Site", og.site_name),
      fact("Type", og.type),
      fact("Address", og.url === null || og.url === data.final_url ? null : og.url),
      fact("X card", twitter.effective?.replaceAll("_", " ")),
      fact("Author", twitter.creator ?? twitter.site),
      fact("Published", og.article?.published_time),
      fact("Icon", fallback.favicon),
      ...pageFacts(data),
    ),
    tables: existing(
      table(
        "Previews",
        ["Platform", "Image", "Cut", "Title", "Description"],
        Object.entries(PLATFORMS).map(([name, platform]) => {
          const { title, description, layout, truncated } = preview[name as keyof typeof PLATFORMS];
          return {
            cells: [platform, LAYOUTS[layout], yesNo(truncated), title, description],
            tone: layout === "no_card" ? "warning" : null,
          };
        }),
      ),
    ),
  };
});

function headlineOf(data: OgPreview): string {
  const { missing_required: missing, preview } = data;
  const { title, layout } = preview.facebook;
  const image = layout === "no_card" ? "nothing else" : layout === "no_image" ? "no image" : describeLayout(layout);
  const shows = title === null ? "no title" : `"${toPlainLine(title, MOST_TITLE)}"`;
  const fault = isImageLost(data)
    ? ", but its image does not load"
    : missing.length > 0
      ? `, but the page lacks ${listAll(missing)}`
      : "";
  return `A link to ${namePage(data)} shows ${shows} and ${image}${fault}`;
}

function describeLayout(layout: "large" | "small" | "unknown"): string {
  return layout === "unknown" ? "an image" : `a ${layout} image`;
}

/** Reports whether the image that the page names does not arrive, or is no image. */
function isImageLost({ image_check: image }: OgPreview): boolean {
  return image !== null && (image.code === null || image.code >= 400 || image.format === null);
}

function describeImage(data: OgPreview): string {
  const { image_check: image, og } = data;
  if (image === null) return og.image.length === 0 ? "none" : "not checked";
  if (image.code !== null && image.code >= 400) return `fails with status ${image.code}`;
  if (isImageLost(data)) return image.error ?? `not an image: ${image.content_type ?? "unknown type"}`;
  const { width, height, format, bytes: size, type_matches: matches } = image;
  return existing(
    width !== null && height !== null && `${width} x ${height}`,
    format,
    size !== null && bytes(size),
    matches === false && `sent as ${image.content_type}`,
  ).join(", ");
}
