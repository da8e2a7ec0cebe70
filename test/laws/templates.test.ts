import { describe, expect, it } from "vitest";
import { readSourceFiles } from "#test/laws/source-files.ts";
import { findTemplateFaults, templatesOf } from "#test/laws/templates.ts";

const faultsOf = (source: string) => findTemplateFaults(source).map(({ fault }) => fault);

describe("a template of HTML", () => {
  it.each([
    'html`<p class="${tone}">${text}</p>`',
    'html`<ul>${items.map((item) => html`<li>${item}`)}</ul><br><path d=""/>`',
    'html`<a href="${path}"${isCurrent && html` aria-current="page"`}>${`${count} }`}</a>`',
    'html`<a class="next" href="?page=${page}">${page}</a>`',
    "html`<style>${STYLE}</style>`; trusted(ICONS.down)",
    'html`<style>${accentStyleOf(colour)}</style><a href="/history?month=${month}"></a>`',
    "html`<table><tr><td>${one}<td>${other}</table>`",
  ])("that is whole passes: %s", (source) => {
    expect(faultsOf(source)).toEqual([]);
  });

  it.each([
    ["html`<div><p>${text}</p>`", "<div> is not closed"],
    ["html`${body}</main>`", "</main> closes what this template did not open"],
    ["html`<b><i></b></i>`", "</b> closes what this template did not open"],
    ["html`<div>${isOpen ? html`<b>` : null}</div>`", "<b> is not closed"],
    ["html`<p class=${tone}></p>`", "${tone} is in an attribute without quotes"],
    ["html`<style>a{color:${colour}}</style>`", "${colour} is in a script or a style"],
    ["trusted(message)", "trusted(message) takes what is no constant"],
    ["trusted(`<b>${NAME}</b>`)", "trusted(`<b>${NAME}</b>`) takes what is no constant"],
  ])("%s is refused", (source, fault) => {
    expect(faultsOf(source)).toEqual([fault]);
  });

  it("is found by its line, also inside another one", () => {
    expect(templatesOf("\nhtml`<p>${html`${a}`}</p>`")).toMatchObject([
      { line: 2, values: ["html`${a}`"] },
      { line: 2, values: ["a"] },
    ]);
  });
});

it("every template of the control plane is whole, and escapes what it writes", () => {
  const files = readSourceFiles(["control-plane"]);
  const faults = files.flatMap(({ path, text }) =>
    findTemplateFaults(text).map(({ line, fault }) => `${path}:${line}: ${fault}`),
  );
  expect(files.flatMap(({ text }) => templatesOf(text)).length).toBeGreaterThan(100);
  expect(faults).toEqual([]);
});
