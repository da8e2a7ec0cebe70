/** A name as people type it: lower case, accents dropped, whatever is no letter or digit a hyphen: "São Paulo" -> "sao-paulo". */
export function slug(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-|-$/g, "");
}
