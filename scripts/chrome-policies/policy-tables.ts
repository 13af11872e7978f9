/**
 * Reads the schema of Chrome's policies out of a Chromium. Its build turns the published templates into tables of the
 * program, by which the browser judges policies; nothing that it shows or serves has the whole schema. The tables
 * (Chromium's components/policy/core/common/schema_internal.h), each an array:
 *
 *   types         { u8 type, i16 extra, two flags }     6 bytes; 0 is the dictionary of all policies
 *   keys          { pointer to the name, i16 type }     16 bytes; those of a dictionary are neighbours, sorted
 *   dictionaries  { i16 begin, end of keys, end of patterns, begin, end of required, additional type, … }
 *   restrictions  { i32, i32 }                          of an integer or a text: from…to of the allowed values, or greatest and least
 *   required, integers, texts                           names, allowed integers, allowed texts
 *
 * The seven pointers to them are neighbours, too. They are found by two policies that stand next to each other by name.
 */
import type { PolicyType } from "../../src/core/model/settings/policies/policy-type.ts";
import type { ElfFile } from "./elf-file.ts";

/** Two names without another between them. */
const neighbours = ["URLAllowlist", "URLBlocklist"] as const;

const typeBytes = 6;
const keyBytes = 16;
const pointerBytes = 8;
/** A dictionary has got further fields over time. */
const dictionaryWidths = [12, 14, 16];

/** The numbers by which tables name the types of values. */
const kinds = { boolean: 1, integer: 2, number: 3, string: 4, object: 6, array: 7 } as const;

type Dictionary = { begin: number; end: number; patternEnd: number; required: [number, number]; additional: number };

type Tables = {
  types: number;
  keys: number;
  restrictions: number;
  required: number;
  integers: number;
  texts: number;
  dictionary(index: number): Dictionary;
};

const dictionaryAt = (elf: ElfFile, address: number): Dictionary => {
  const [begin = 0, end = 0, patternEnd = 0, from = 0, to = 0, additional = 0] = Array.from({ length: 6 }, (_, field) =>
    elf.int16At(address + 2 * field),
  );
  return { begin, end, patternEnd, required: [from, to], additional };
};

/** Where the key of the first of the two policies is in the table of keys. */
const findNeighbours = (elf: ElfFile): number[] => {
  const [first, second] = neighbours.map((name) => new Set(elf.findText(name)));
  return [...elf.pointers.entries()]
    .filter(([at, to]) => first?.has(to) && second?.has(elf.pointers.get(at + keyBytes) ?? -1))
    .map(([at]) => at);
};

/** The tables whose second pointer is at `at`, if their first type is a dictionary that has this key. */
const tablesAt = (elf: ElfFile, at: number, key: number): Tables[] => {
  const pointers = Array.from({ length: 7 }, (_, index) => elf.pointers.get(at + pointerBytes * (index - 1)));
  const [types, keys, dictionaries, restrictions, required, integers, texts] = pointers;
  if (types === undefined || keys === undefined || dictionaries === undefined || restrictions === undefined) return [];
  if (required === undefined || integers === undefined || texts === undefined) return [];
  if (elf.int8At(types) !== kinds.object) return [];
  const index = (key - keys) / keyBytes;
  return dictionaryWidths
    .map((width) => (number: number) => dictionaryAt(elf, dictionaries + width * number))
    .filter((dictionary) => {
      const { begin, end } = dictionary(elf.int16At(types + 2));
      const before = elf.pointers.get(keys + keyBytes * begin);
      const after = elf.pointers.get(keys + keyBytes * (end - 1));
      return begin <= index && index < end && before !== undefined && after !== undefined;
    })
    .map((dictionary) => ({ types, keys, restrictions, required, integers, texts, dictionary }));
};

const findTables = (elf: ElfFile): Tables => {
  const candidates = findNeighbours(elf).flatMap((key) =>
    [...elf.pointers.entries()]
      // Indices have 16 bits.
      .filter(([, to]) => to <= key && key - to < keyBytes * 2 ** 15 && (key - to) % keyBytes === 0)
      .flatMap(([at]) => tablesAt(elf, at, key)),
  );
  const [tables] = candidates;
  if (!tables || candidates.length > 1)
    throw new Error(`the tables of policies are at ${candidates.length} places of this program`);
  return tables;
};

/** All policies' types by name. `shared`: types that contain themselves. */
type PolicyTypes = { policies: Record<string, PolicyType>; shared: Record<string, PolicyType> };

/** Reads the types of a Chromium's policies. Throws an Error when its tables are not of the form that is known here. */
export const readPolicyTypes = (elf: ElfFile): PolicyTypes => {
  const tables = findTables(elf);
  const shared: Record<string, PolicyType> = {};
  const open = new Set<number>();

  const textIn = (table: number, index: number): string =>
    elf.textAt(elf.pointers.get(table + pointerBytes * index) ?? -1);
  const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);
  const keysOf = (from: number, to: number): [string, PolicyType][] =>
    range(from, to).map((index) => {
      const at = tables.keys + keyBytes * index;
      return [elf.textAt(elf.pointers.get(at) ?? -1), typeOf(elf.int16At(at + pointerBytes))];
    });
  const restrictionAt = (index: number): [number, number] => {
    const at = tables.restrictions + 8 * index;
    return [elf.int32At(at), elf.int32At(at + 4)];
  };
  const integer = (extra: number): PolicyType => {
    if (extra < 0) return { type: "integer" };
    const [first, second] = restrictionAt(extra);
    if (first < second)
      return { type: "integer", enum: range(first, second).map((index) => elf.int32At(tables.integers + 4 * index)) };
    return { type: "integer", minimum: second, maximum: first };
  };
  const string = (extra: number): PolicyType => {
    if (extra < 0) return { type: "string" };
    const [first, second] = restrictionAt(extra);
    if (first === second) return { type: "string", pattern: textIn(tables.texts, first) };
    return { type: "string", enum: range(first, second).map((index) => textIn(tables.texts, index)) };
  };
  const object = (extra: number): PolicyType => {
    if (extra < 0) return { type: "object" };
    const { begin, end, patternEnd, required, additional } = tables.dictionary(extra);
    const needed = range(...required).map((index) => textIn(tables.required, index));
    return {
      type: "object",
      ...(end > begin && { properties: Object.fromEntries(keysOf(begin, end)) }),
      ...(patternEnd > end && { patternProperties: Object.fromEntries(keysOf(end, patternEnd)) }),
      ...(needed.length > 0 && { required: needed }),
      ...(additional >= 0 && { additionalProperties: typeOf(additional) }),
    };
  };
  const array = (extra: number): PolicyType => ({ type: "array", ...(extra >= 0 && { items: typeOf(extra) }) });

  const composite = (index: number, make: () => PolicyType): PolicyType => {
    const $ref = `type${index}`;
    if (open.has(index)) {
      shared[$ref] ??= { type: "object" };
      return { $ref };
    }
    open.add(index);
    const made = make();
    open.delete(index);
    if (!($ref in shared)) return made;
    shared[$ref] = made;
    return { $ref };
  };
  const typeOf = (index: number): PolicyType => {
    const at = tables.types + typeBytes * index;
    const extra = elf.int16At(at + 2);
    switch (elf.int8At(at)) {
      case kinds.boolean:
        return { type: "boolean" };
      case kinds.number:
        return { type: "number" };
      case kinds.integer:
        return integer(extra);
      case kinds.string:
        return string(extra);
      case kinds.array:
        return composite(index, () => array(extra));
      case kinds.object:
        return composite(index, () => object(extra));
      default:
        throw new Error(`the tables of policies have a type ${elf.int8At(at)}, which is not known here`);
    }
  };

  const { begin, end } = tables.dictionary(elf.int16At(tables.types + 2));
  return { policies: Object.fromEntries(keysOf(begin, end)), shared };
};
