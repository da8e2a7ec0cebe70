import { isTag, type Element } from "domhandler";
import { attribute } from "#probe-agent/analysis/html/page.ts";
import type { ImageFacts } from "#probe-agent/analysis/page/page-resources/resource.ts";

type Counts = { -readonly [Key in keyof ImageFacts]: ImageFacts[Key] };

const MODERN = /^(?:webp|avif|jxl)$/;
const KNOWN = /^(?:webp|avif|jxl|png|apng|jpe?g|jfif|gif|bmp)$/;

/** Returns counts that are all 0. */
export function noImages(): Counts {
  return { total: 0, lazy: 0, missing_dimensions: 0, modern_formats: 0, known_formats: 0, responsive: 0 };
}

/** Adds an img element to the counts. Ignores one without src and srcset. */
export function countImage(counts: Counts, image: Element): void {
  const src = attribute(image, "src") ?? "";
  const set = attribute(image, "srcset");
  if (src === "" && set === null) return;
  const sources = findPictureSources(image);
  counts.total += 1;
  if (attribute(image, "loading")?.toLowerCase() === "lazy") counts.lazy += 1;
  if (set !== null || sources.length > 0) counts.responsive += 1;
  const sized = attribute(image, "width") !== null && attribute(image, "height") !== null;
  const style = attribute(image, "style") ?? "";
  const styled = /aspect-ratio\s*:|(?:^|[;\s])height\s*:/i.test(style) && /(?:aspect-ratio|width)\s*:/i.test(style);
  if (!sized && !styled) counts.missing_dimensions += 1;
  const formats = [
    ...sources.map(findSourceFormat),
    findFormat(src),
    findFormat((set ?? "").trim().split(/[\s,]/, 1)[0] ?? ""),
  ];
  if (formats.some((format) => KNOWN.test(format))) counts.known_formats += 1;
  if (formats.some((format) => MODERN.test(format))) counts.modern_formats += 1;
}

function findPictureSources(image: Element): Element[] {
  const { parent } = image;
  if (parent === null || !isTag(parent) || parent.name !== "picture") return [];
  return parent.children
    .slice(0, 100)
    .filter((child) => isTag(child))
    .filter(({ name }) => name === "source");
}

function findSourceFormat(source: Element): string {
  const type = /^image\/(?:x-)?([a-z]+)/i.exec(attribute(source, "type") ?? "")?.[1];
  return type?.toLowerCase() ?? findFormat((attribute(source, "srcset") ?? "").split(/[\s,]/, 1)[0] ?? "");
}

/** Returns the image format by file extension or by the type of a data: URL. Returns "" if neither shows it. */
function findFormat(address: string): string {
  const data = /^data:image\/([a-z]+)/i.exec(address)?.[1];
  if (data !== undefined) return data.toLowerCase();
  const path = address.slice(0, 2048).split(/[?#]/, 1)[0] ?? "";
  return /\.([a-z0-9]{2,5})$/i.exec(path)?.[1]?.toLowerCase() ?? "";
}
