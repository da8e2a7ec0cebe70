import type { Finding, Severity } from "#shared/findings.ts";
import { PLATFORMS, type PlatformName } from "#probe-agent/analysis/page/social/platforms.ts";
import type { ImageFault } from "#probe-agent/analysis/page/social/preview.ts";
import { typeMatches } from "#probe-agent/analysis/page/social/required.ts";
import type { FetchedImage, SocialSubject } from "#probe-agent/analysis/page/social/subject.ts";

/** URL of the Open Graph specification. */
export const OPEN_GRAPH = "https://ogp.me/";
const SHARING = "https://developers.facebook.com/docs/sharing/webmasters/images/";
const PLATFORM_NAMES: Readonly<Record<PlatformName, string>> = {
  facebook: "Facebook",
  x: "X",
  linkedin: "LinkedIn",
  slack: "Slack",
};

/**
 * Returns findings about the first og:image: faults of its tags, faults of the fetched file, and the platforms that do
 * not show it or show it small.
 */
export function imageFindings({ reading, pageUrl, image: fetched, previews }: SocialSubject): Finding[] {
  const [image] = reading.graph.image;
  if (image === undefined) return [];
  const url = image.url?.slice(0, 300) ?? null;
  const found = (id: string, severity: Severity, message: string, how: string, reference = OPEN_GRAPH): Finding => {
    return { id, severity, message, how, reference, where: url ?? "og:image" };
  };
  const size = fetched?.width != null && fetched.height !== null ? `${fetched.width} x ${fetched.height}` : null;
  return [
    ...(reading.relativeImage
      ? [
          found(
            "image-relative",
            "warning",
            "og:image is a relative address, which some platforms do not resolve.",
            `Write the full address: <meta property="og:image" content="${url ?? "https://..."}">`,
          ),
        ]
      : []),
    ...(pageUrl.startsWith("https:") && image.url?.startsWith("http:") === true
      ? [
          found(
            "image-over-http",
            "warning",
            "og:image has an http address, but the page was served over HTTPS.",
            `Write <meta property="og:image" content="${image.url.slice(0, 300).replace(/^http:/, "https:")}">`,
          ),
        ]
      : []),
    ...(image.url !== null && !/^https?:/.test(image.url)
      ? [
          found(
            "image-not-fetchable",
            "warning",
            "og:image is not an http or https address, so no platform can fetch it.",
            "Publish the image as a file, and use its https address in og:image.",
          ),
        ]
      : fetched !== null && fetched.code !== 200
        ? [
            found(
              "image-not-fetched",
              "warning",
              fetched.code === null
                ? `og:image could not be fetched: ${fetched.error ?? "no response"}.`
                : `og:image responds with HTTP status ${fetched.code}.`,
              "Publish the image at this address for everyone, without sign-in, or use another address.",
            ),
          ]
        : []),
    ...(image.alt === null
      ? [
          found(
            "image-alt-missing",
            "info",
            "og:image:alt is missing, so people who cannot see the image do not know what it shows.",
            'Add after og:image: <meta property="og:image:alt" content="What the image shows">',
          ),
        ]
      : []),
    ...(image.width === null || image.height === null
      ? [
          found(
            "image-size-missing",
            "info",
            "og:image:width or og:image:height is missing, so Facebook may show the first share without the image.",
            `Add after og:image: <meta property="og:image:width" content="${fetched?.width ?? 1200}"> <meta property="og:image:height" content="${fetched?.height ?? 630}">`,
            SHARING,
          ),
        ]
      : size !== null && (fetched?.width !== image.width || fetched.height !== image.height)
        ? [
            found(
              "image-size-differs",
              "info",
              `og:image is ${size} pixels, but is declared as ${image.width} x ${image.height}.`,
              `Set og:image:width ${fetched?.width} and og:image:height ${fetched?.height}.`,
            ),
          ]
        : []),
    ...(fetched?.code === 200 ? contentFindings(fetched, found) : []),
    ...platformFindings(previews, size ?? "of unknown size", found),
  ];
}

type Found = (id: string, severity: Severity, message: string, how: string, reference?: string) => Finding;

function contentFindings(fetched: FetchedImage, found: Found): Finding[] {
  const type = fetched.content_type?.slice(0, 100) ?? "no Content-Type";
  if (fetched.format === null) {
    const message = `og:image is not an image of a known format. It is served as ${type}.`;
    return [found("image-unknown-format", "warning", message, "Publish a PNG or JPEG file at this address.")];
  }
  if (typeMatches(fetched) !== false) return [];
  const message = `og:image is a ${fetched.format} file, but is served as ${type}.`;
  return [found("image-wrong-type", "warning", message, `Send Content-Type: image/${fetched.format} with this file.`)];
}

/** Returns one finding for each rule of a platform that the image breaks. */
function platformFindings(previews: SocialSubject["previews"], size: string, found: Found): Finding[] {
  return (Object.keys(PLATFORMS) as PlatformName[]).flatMap((name) =>
    previews[name].imageFaults.map((fault) => {
      const platform = PLATFORM_NAMES[name];
      const { reference, formats } = PLATFORMS[name];
      const where = `preview.${name}`;
      const { id, message, how } = describeFault(fault, platform, size, [...(formats ?? [])]);
      const severity = fault.kind === "shown-small" ? "info" : "warning";
      return { ...found(id, severity, message, how, reference), where };
    }),
  );
}

function describeFault(fault: ImageFault, platform: string, size: string, formats: readonly string[]) {
  switch (fault.kind) {
    case "format":
      return {
        id: "image-format-refused",
        message: `${platform} does not show images in the format ${fault.format}.`,
        how: `Publish og:image in one of these formats: ${formats.join(", ")}.`,
      };
    case "bytes":
      return {
        id: "image-too-large",
        message: `The image is ${megabytes(fault.bytes)} MB. ${platform} shows images of up to ${megabytes(fault.max)} MB.`,
        how: `Compress the image to less than ${megabytes(fault.max)} MB.`,
      };
    case "too-small":
      return {
        id: "image-too-small",
        message: `The image is ${size} pixels. ${platform} shows no images smaller than ${fault.min.join(" x ")} pixels.`,
        how: "Publish an image of 1200 x 630 pixels.",
      };
    case "shown-small":
      return {
        id: "image-shown-small",
        message: `The image is ${size} pixels. ${platform} shows large previews only from ${fault.min.join(" x ")} pixels.`,
        how: "Publish an image of 1200 x 630 pixels.",
      };
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1).replace(/\.0$/, "");
}
