/** Converts a name to a slug: lower case, without accents, a hyphen for other characters than letters and digits: "São Paulo" -> "sao-paulo". */
export function slug(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/\p{M}+/gu, "")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-|-$/g, "");
}
