import { Type } from "typebox";
import { describe, expect, it } from "vitest";
import { refuse } from "#shared/schema/problem.ts";
import { Nullable } from "#shared/tools/fields.ts";
import { changedFields, columnsOf, defineResource, readStored, show, stored } from "#control-plane/http/resource.ts";

const book = defineResource({
  name: "webhook",
  noun: "book",
  path: "/books",
  tag: "Books",
  scope: "monitors",
  example: { title: "Emma" },
  fields: {
    id: { shown: Type.Integer({ description: "Id" }) },
    subtitle: stored(Nullable(Type.String({ maxLength: 20, examples: ["A novel"], description: "Below the title" })), {
      shown: "Subtitle",
      initial: null,
      read: (field, given) =>
        given === "bad" ? refuse(field, "enum", "is bad") : { ok: true, value: given.toUpperCase() },
    }),
    title: stored(Type.String({ minLength: 1, description: "Its title" }), { shown: "Title" }),
    is_lent: stored(Type.Boolean({ description: "Default: false" }), { shown: "Whether it is lent", initial: false }),
    state: { isHandled: true, isOnlyChanged: true, given: Type.String(), shown: Type.String() },
    authors: { isHandled: true, given: Type.Array(Type.String()), shown: Type.Array(Type.String()) },
    cover: { isHandled: true, given: Type.String() },
    updated_at: { shown: Type.String() },
  },
});

describe("the schemas of a noun", () => {
  it("have what must be given first in a creation, everything optional in a change, and the answer's order", () => {
    expect(Object.keys(book.create.properties)).toEqual(["title", "subtitle", "is_lent", "authors", "cover"]);
    expect(book.create).toMatchObject({ required: ["title"], examples: [{ title: "Emma" }] });
    expect(book.change).not.toHaveProperty("required");
    expect(Object.keys(book.shown.properties)).toEqual([
      "id",
      "subtitle",
      "title",
      "is_lent",
      "state",
      "authors",
      "updated_at",
    ]);
  });

  it("show a stored field by its type alone, without the limits of what is written", () => {
    expect(book.shown.properties["subtitle"]).toEqual({
      anyOf: [{ type: "string", description: "Subtitle" }, { type: "null" }],
      description: "Subtitle",
    });
  });

  it("let a client send back what it read", () => {
    expect(book.readOnly).toEqual(["id", "updated_at"]);
    expect(book.ignoredInCreation).toEqual(["id", "updated_at", "state"]);
  });
});

describe("the stored fields of a noun", () => {
  const emma = { subtitle: "bad", title: "Emma", is_lent: true };

  it("begin with their initial values and have their normal form", () => {
    expect(readStored(book, { title: "Emma", subtitle: "a novel" }, null)).toEqual({
      ok: true,
      value: { subtitle: "A NOVEL", title: "Emma", is_lent: false },
    });
  });

  it("keep what is not given, and what is given as it is though a newer rule forbids it", () => {
    expect(readStored(book, { subtitle: "bad", is_lent: false }, emma)).toEqual({
      ok: true,
      value: { ...emma, is_lent: false },
    });
    expect(readStored(book, { subtitle: null }, emma)).toMatchObject({ value: { subtitle: null } });
  });

  it("name the field that is refused", () => {
    const problem = { field: "subtitle", reason: "enum", message: "is bad" };
    expect(readStored(book, { subtitle: "bad" }, null)).toEqual({ ok: false, problem });
  });

  it("are columns, and are shown as they are beside the others, in the order of the fields", () => {
    const row = { ...emma, secret: "x" };
    expect(columnsOf(book, row)).toEqual(emma);
    const shown = show(book, row, { id: 1, state: "new", authors: ["Jane"], updated_at: "now" });
    expect(Object.entries(shown).slice(0, 3)).toEqual([
      ["id", 1],
      ["subtitle", "bad"],
      ["title", "Emma"],
    ]);
    expect(shown).not.toHaveProperty("secret");
  });

  it("are logged where they change, but what only answers have is not", () => {
    const changed = changedFields(book, { ...emma, updated_at: 1 }, { ...emma, title: "Persuasion", updated_at: 2 });
    expect(changed).toEqual([{ field: "title", before: "Emma", after: "Persuasion" }]);
  });
});
