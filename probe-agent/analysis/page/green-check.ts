/** Facts of the Green Web Foundation about a host. */
export interface GreenCheck {
  readonly green: boolean;
  readonly hostedBy: string | null;
  /** Evidence from the hosting provider, up to 10 documents. */
  readonly documents: readonly { readonly title: string; readonly link: string }[];
}

const MAX_DOCUMENTS = 10;
const MAX_TEXT = 300;

/**
 * Parses a response of its greencheck API v3. Returns null if it is invalid. Hosts unknown to the API are not green.
 */
export function readGreenCheck(value: unknown): GreenCheck | null {
  if (typeof value !== "object" || value === null) return null;
  const { green, hosted_by: host, supporting_documents: documents } = value as Record<string, unknown>;
  if (typeof green !== "boolean") return null;
  const listed: unknown[] = Array.isArray(documents) ? documents : [];
  return {
    green,
    hostedBy: textOf(host),
    documents: listed.slice(0, MAX_DOCUMENTS).flatMap((entry) => {
      const { title, link } = (entry ?? {}) as Record<string, unknown>;
      const address = textOf(link);
      return address === null || !/^https?:/.test(address) ? [] : [{ title: textOf(title) ?? "", link: address }];
    }),
  };
}

function textOf(value: unknown): string | null {
  if (typeof value !== "string" || value.trim() === "") return null;
  return value
    .replaceAll(/\p{Cc}/gu, " ")
    .trim()
    .slice(0, MAX_TEXT)
    .toWellFormed();
}
