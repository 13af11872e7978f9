import { expect, test } from "vitest";
import { chooseItem } from "./choose-item.ts";

const item = (path: string, ...urls: string[]) => ({
  ...{ id: path, path, title: path, vault_id: "t", vault_name: "t", urls },
});
const items = [
  item("t/d", "https://shop.example.evil.test"),
  item("t/c", "https://login.shop.example/in"),
  item("t/b", "https://other.example", "https://shop.example/in"),
  item("t/a", "https://a.shop.example"),
  item("t/e", "https://notshop.example"),
];

// PROVIDER-8
test.each([
  ["shop.example", "t/b"],
  ["login.shop.example", "t/c"],
  ["www.other.example", "t/b"],
  ["example", "t/a"],
  ["evil.test", "t/d"],
  ["none.example", undefined],
])("for %s it is %s", (domain, path) => {
  expect(chooseItem(items, domain)?.path).toBe(path);
  expect(chooseItem(items.toReversed(), domain)?.path).toBe(path);
});
