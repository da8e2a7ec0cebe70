import { openGraph, structuredData } from "#test/entry-points.ts";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const URL_OF_PAGE = "https://example.com/a/page?q=1";
const microdata = (html: string, url = URL_OF_PAGE) => structuredData(html, url).microdata;
const rdfa = (html: string, url = URL_OF_PAGE) => structuredData(html, url).rdfa;
const block = (json: string): string => `<script type="application/ld+json">${json}</script>`;

describe("microdata by the examples of the HTML standard", () => {
  it("gives the JSON of the standard's blog post (section 5.5)", () => {
    const html = readFileSync(new URL("../../../fixtures/html/blog-posting.html", import.meta.url), "utf8");
    const expected: unknown = JSON.parse(
      readFileSync(new URL("../../../fixtures/html/blog-posting.json", import.meta.url), "utf8"),
    );
    expect(structuredData(html, "http://blog.example.com/progress-report")).toEqual({
      json_ld: [],
      microdata: [expected],
      rdfa: [],
      errors: [],
    });
  });

  it("reads names, repeated properties and several names of one element (5.2.1)", () => {
    expect(
      microdata(
        '<div itemscope><p>My name is <span itemprop="name">Elizabeth</span>.</p></div>' +
          '<div itemscope><p>My <em>name</em> is <span itemprop="name">E<strong>liz</strong>abeth</span>.</p></div>' +
          "<div itemscope><ul><li itemprop=flavor>Lemon sorbet</li><li itemprop=flavor>Apricot sorbet</li></ul></div>" +
          '<div itemscope><span itemprop="favorite-color favorite-fruit">orange</span></div>',
      ),
    ).toEqual([
      { type: [], properties: { name: ["Elizabeth"] } },
      { type: [], properties: { name: ["Elizabeth"] } },
      { type: [], properties: { flavor: ["Lemon sorbet", "Apricot sorbet"] } },
      { type: [], properties: { "favorite-color": ["orange"], "favorite-fruit": ["orange"] } },
    ]);
  });

  it("reads addresses, data, meter and time (5.2.1)", () => {
    expect(
      microdata(
        '<div itemscope><img itemprop="image" src="google-logo.png" alt="Google"></div>' +
          '<h1 itemscope><data itemprop="product-id" value="9678AOU879">The Instigator 2000</data></h1>' +
          '<div itemscope><meter itemprop="ratingValue" min=0 value=3.5 max=5>Rated 3.5/5</meter></div>' +
          '<div itemscope>I was born on <time itemprop="birthday" datetime="2009-05-10">May 10th 2009</time>.</div>' +
          "<div itemscope><time itemprop=t>2010</time><meta itemprop=m content=' x '><meta itemprop=m>" +
          "<a itemprop=a>no href</a><object itemprop=o data=../o></object><embed itemprop=e src=//cdn.test/e>" +
          '<link itemprop=l href="http://[bad"></div>',
      ).map(({ properties }) => properties),
    ).toEqual([
      { image: ["https://example.com/a/google-logo.png"] },
      { "product-id": ["9678AOU879"] },
      { ratingValue: ["3.5"] },
      { birthday: ["2009-05-10"] },
      { t: ["2010"], m: [" x ", ""], a: [""], o: ["https://example.com/o"], e: ["https://cdn.test/e"], l: [""] },
    ]);
  });

  it("puts items into items (5.2.1)", () => {
    expect(
      microdata(
        '<div itemscope><p>Name: <span itemprop="name">Amanda</span></p>' +
          '<p>Band: <span itemprop="band" itemscope> <span itemprop="name">Jazz Band</span> ' +
          '(<span itemprop="size">12</span> players)</span></p></div>',
      ),
    ).toEqual([
      {
        type: [],
        properties: { name: ["Amanda"], band: [{ type: [], properties: { name: ["Jazz Band"], size: ["12"] } }] },
      },
    ]);
  });

  it("follows itemref, in tree order (5.2.1, 5.2.3)", () => {
    expect(
      microdata(
        '<div itemscope id="amanda" itemref="a b"></div><p id="a">Name: <span itemprop="name">Amanda</span></p>' +
          '<div id="b" itemprop="band" itemscope itemref="c"></div><div id="c">' +
          '<p>Band: <span itemprop="name">Jazz Band</span></p><p>Size: <span itemprop="size">12</span></p></div>',
      ),
    ).toEqual([
      {
        type: [],
        properties: { name: ["Amanda"], band: [{ type: [], properties: { name: ["Jazz Band"], size: ["12"] } }] },
      },
    ]);
    const [shared] = microdata(
      "<p id=x itemprop=n>first</p><div itemscope itemref='y x'><b itemprop=n>second</b></div><p id=y itemprop=n>third</p>",
    );
    expect(shared?.properties).toEqual({ n: ["first", "second", "third"] });
  });

  it("reads types and global identifiers (5.2.2, 5.2.3)", () => {
    expect(
      microdata(
        '<dl itemscope itemtype="https://vocab.example.net/book" itemid="urn:isbn:0-330-34032-8">' +
          "<dt>Title</dt><dd itemprop=title>The Reality Dysfunction</dd></dl>" +
          "<div itemscope itemtype='https://a.test/x  https://a.test/y' itemid='#me'></div>",
      ),
    ).toEqual([
      {
        type: ["https://vocab.example.net/book"],
        id: "urn:isbn:0-330-34032-8",
        properties: { title: ["The Reality Dysfunction"] },
      },
      { type: ["https://a.test/x", "https://a.test/y"], id: `${URL_OF_PAGE}#me`, properties: {} },
    ]);
  });

  it("counts from the base element", () => {
    const [item] = microdata("<base href='/deep/er/'><div itemscope><a itemprop=u href=x>y</a></div>");
    expect(item?.properties).toEqual({ u: ["https://example.com/deep/er/x"] });
  });

  it("ends circles and names what is wrong", () => {
    const html =
      "<div itemscope id=a itemref='b nowhere'></div><div id=b itemprop=p itemscope itemref=a2></div>" +
      "<div id=a2><div itemprop=back itemscope itemref=b></div></div>";
    const { microdata: items, errors } = structuredData(html, URL_OF_PAGE);
    expect(items).toEqual([
      { type: [], properties: { p: [{ type: [], properties: { back: [{ type: [], properties: {} }] } }] } },
    ]);
    expect(errors.map(({ message }) => message)).toEqual([
      'Microdata: itemref names an id that no element has: "nowhere"',
      "Microdata: an item that includes itself",
    ]);
  });

  it("leaves out templates, and bare itemprop without an item", () => {
    expect(microdata("<template><div itemscope></div></template><p itemprop=x>y</p>")).toEqual([]);
  });
});

describe("hostile microdata", () => {
  it("cannot multiply itself by itemref", () => {
    let html = "<div itemscope itemref='a0 b0'></div>";
    for (let n = 0; n < 60; n += 1) {
      html += `<div id=a${n} itemprop=p itemscope itemref='a${n + 1} b${n + 1}'></div>`;
      html += `<div id=b${n} itemprop=p itemscope itemref='a${n + 1} b${n + 1}'></div>`;
    }
    const { errors } = structuredData(html, URL_OF_PAGE);
    expect(errors.some(({ message }) => message.includes("more items than"))).toBe(true);
  });

  it("cannot make every item read the whole page", () => {
    const html = `<div id=all>${"<i itemprop=x>y</i>".repeat(20_000)}</div>${"<b itemscope itemref=all></b>".repeat(5000)}`;
    const { errors } = structuredData(html, URL_OF_PAGE);
    expect(errors.some(({ message }) => message.includes("more elements than"))).toBe(true);
  });

  it("cannot make nested properties read the same text over and over", () => {
    const html = `<div itemscope>${"<p itemprop=x><span itemprop=y>".repeat(250)}${"<b>z</b>".repeat(100_000)}`;
    const { errors } = structuredData(html, URL_OF_PAGE);
    expect(errors.some(({ message }) => message.includes("more text than"))).toBe(true);
  });
});

describe("JSON-LD", () => {
  it("gives one entry per object, as written", () => {
    const { json_ld: objects } = structuredData(
      block('{"@context":"https://schema.org","@graph":[{"@id":"#a","@type":"Person"}]}') +
        block('[{"@type":"A"},[{"@type":"B"}]]') +
        "<script type='Application/LD+JSON; charset=utf-8'>{\"c\":1}</script>" +
        "<script type='application/json'>{\"d\":1}</script>",
      URL_OF_PAGE,
    );
    expect(objects).toEqual([
      { "@context": "https://schema.org", "@graph": [{ "@id": "#a", "@type": "Person" }] },
      { "@type": "A" },
      { "@type": "B" },
      { c: 1 },
    ]);
  });

  it("reports the line of a fault in the page", () => {
    const html = `<p>é</p>\n${block('\n{"a": [1,],\n "b": }')}${block("")}${block('"text"')}`;
    const { json_ld: objects, errors } = structuredData(html, URL_OF_PAGE);
    expect(objects).toEqual([]);
    expect(errors.map(({ message }) => message)).toEqual([
      "JSON-LD: a trailing comma",
      'JSON-LD: expected a value, found "}"',
      "JSON-LD: the block is empty",
      "JSON-LD: a top-level value that is not an object",
    ]);
    expect(errors.map(({ position }) => html[position]).slice(0, 2)).toEqual(["]", "}"]);
  });

  it("survives 100,000 nested arrays and a string of a megabyte", () => {
    const deep = structuredData(block("[".repeat(100_000)), URL_OF_PAGE);
    expect(deep.errors.map(({ message }) => message)).toEqual(["JSON-LD: nested deeper than 128 levels"]);
    const long = structuredData(block(JSON.stringify({ a: "x".repeat(1_000_000) })), URL_OF_PAGE);
    expect((long.json_ld[0] as { a: string }).a).toHaveLength(1_000_000);
  });
});

describe("RDFa Lite by the examples of its recommendation", () => {
  it("reads vocab, typeof and property (section 2.1, 2.2)", () => {
    expect(
      rdfa(
        '<p vocab="http://schema.org/" typeof="Person">My name is <span property="name">Manu Sporny</span> and you can ' +
          'give me a ring via <span property="telephone">1-800-555-0199</span> or visit ' +
          '<a property="url" href="http://manu.sporny.org/">my homepage</a>. <img property="image" src="/m.jpg"></p>',
      ),
    ).toEqual([
      {
        type: ["http://schema.org/Person"],
        properties: {
          name: ["Manu Sporny"],
          telephone: ["1-800-555-0199"],
          url: ["http://manu.sporny.org/"],
          image: ["https://example.com/m.jpg"],
        },
      },
    ]);
  });

  it("reads resource (2.3) and prefix (2.4)", () => {
    expect(
      rdfa(
        '<p vocab="http://schema.org/" prefix="ov: http://open.vocab.org/terms/" resource="#manu" typeof="Person">' +
          'My name is <span property="name">Manu Sporny</span>, my favorite animal is the ' +
          '<span property="ov:preferredAnimal">Liger</span>.</p>',
      ),
    ).toEqual([
      {
        type: ["http://schema.org/Person"],
        id: `${URL_OF_PAGE}#manu`,
        properties: { name: ["Manu Sporny"], "http://open.vocab.org/terms/preferredAnimal": ["Liger"] },
      },
    ]);
  });

  it("nests things, adds to known ones, and never lets one contain itself", () => {
    const html =
      '<div vocab="https://schema.org/"><div typeof="Event"><meta property="startDate" content="2026-11-21">' +
      '<time property="endDate" datetime="2026-11-22">tomorrow</time>' +
      '<div property="location" typeof="Place" resource="#hall"><span property="name">Hall</span></div></div>' +
      '<div resource="#hall"><span property="telephone">1</span>' +
      '<div property="containedInPlace" typeof="City" resource="#city"><i property="has" typeof="Place" resource="#hall"></i></div>' +
      "</div></div>";
    expect(rdfa(html)).toEqual([
      {
        type: ["https://schema.org/Event"],
        properties: {
          startDate: ["2026-11-21"],
          endDate: ["2026-11-22"],
          location: [
            {
              type: ["https://schema.org/Place"],
              id: `${URL_OF_PAGE}#hall`,
              properties: {
                name: ["Hall"],
                telephone: ["1"],
                containedInPlace: [
                  {
                    type: ["https://schema.org/City"],
                    id: `${URL_OF_PAGE}#city`,
                    properties: { has: [`${URL_OF_PAGE}#hall`] },
                  },
                ],
              },
            },
          ],
        },
      },
    ]);
  });

  it("says when a type means nothing, and does not take Open Graph for a thing", () => {
    const { rdfa: things, errors } = structuredData("<p typeof=Person><meta property=og:title content=x>", URL_OF_PAGE);
    expect(things).toEqual([]);
    expect(errors).toEqual([{ message: 'RDFa: typeof "Person": no vocabulary is set', position: 0 }]);
  });

  it("stays quick with 100,000 links and deep nesting", () => {
    const html = `<div vocab=https://schema.org/ typeof=WebPage>${"<a href=/x property=url>y</a>".repeat(60_000)}`;
    expect(rdfa(html)[0]?.properties["url"]).toHaveLength(60_000);
    expect(rdfa("<div vocab=https://s.test/ property=p typeof=T>".repeat(5000)).length).toBe(1);
  });
});

describe("Open Graph by the examples of ogp.me", () => {
  it("keeps properties in document order with repeats", () => {
    const html =
      '<html prefix="og: https://ogp.me/ns#"><head><title>The Rock (1996)</title>' +
      '<meta property="og:title" content="The Rock" /><meta property="og:type" content="video.movie" />' +
      '<meta property="og:url" content="https://www.imdb.com/title/tt0117500/" />' +
      '<meta property="og:image" content="https://example.com/rock.jpg" />' +
      '<meta property="og:image:width" content="300" /><meta property="og:image:height" content="300" />' +
      '<meta property="og:image" content="https://example.com/rock2.jpg" />' +
      '<meta property="video:actor" content="https://example.com/a"><meta name="twitter:card" content="summary">' +
      '</head><body><meta name="og:locale" content="en_GB"></body></html>';
    expect(openGraph(html, URL_OF_PAGE)).toEqual({
      properties: [
        ["og:title", "The Rock"],
        ["og:type", "video.movie"],
        ["og:url", "https://www.imdb.com/title/tt0117500/"],
        ["og:image", "https://example.com/rock.jpg"],
        ["og:image:width", "300"],
        ["og:image:height", "300"],
        ["og:image", "https://example.com/rock2.jpg"],
        ["video:actor", "https://example.com/a"],
        ["og:locale", "en_GB"],
      ],
      twitter: [["twitter:card", "summary"]],
      misplaced: ["og:locale"],
      inBody: ["og:locale"],
      truncated: false,
    });
  });
});
