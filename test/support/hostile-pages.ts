/** Creates hostile pages of about the given number of octets, by kind. Each kind once took a long time. */
export const HOSTILE_PAGES: Readonly<Record<string, (bytes: number) => string>> = {
  tags: (bytes) => filled("<i>", "", bytes, "<b c>"),
  nesting: (bytes) => filled("", "", bytes, "<div>"),
  attributes: (bytes) => filled("<p ", ">x</p>", bytes, (n) => `a${n}=b `),
  itemrefs: (bytes) => {
    const length = Math.floor(Math.sqrt(bytes / 12));
    const ids = Array.from({ length }, (_, n) => `i${n}`).join(" ");
    const named = Array.from({ length }, (_, n) => `<p id=i${n} itemprop=a itemscope itemref="${ids}">x</p>`);
    return filled(
      named.join(""),
      "",
      bytes,
      `<div itemscope itemtype=https://schema.org/Thing itemref="${ids}">x</div>`,
    );
  },
  "json-ld": (bytes) =>
    filled('<script type="application/ld+json">[', "0]</script>", bytes, '{"@type":"Thing","name":[{"@type":"A"}]},'),
  text: (bytes) => filled("<p>", "", bytes, "word \u00e9"),
  styles: (bytes) => filled("<style>", "</style>", bytes, "a{background:url(http://a.example/b)}"),
  links: (bytes) => filled("", "", bytes, (n) => `<a href="http://a${n}.example/">click here</a>`),
  images: (bytes) => filled("", "", bytes, (n) => `<img src="//a${n}.example/i" srcset="/a 1x, /b 2x">`),
  metas: (bytes) => filled("", "", bytes, (n) => `<meta property="og:image" content="/i${n}">`),
  scripts: (bytes) => filled("<script>", "</script>", bytes, "//www.google-analytics.com/ga.js "),
};

function filled(before: string, after: string, bytes: number, piece: string | ((n: number) => string)): string {
  const parts = [before];
  let length = before.length + after.length;
  for (let n = 0; length < bytes; n += 1) {
    const next = typeof piece === "string" ? piece : piece(n);
    parts.push(next);
    length += Buffer.byteLength(next);
  }
  return [...parts, after].join("");
}
