/**
 * The documented no: what newest public clients ask for and is another product (HTTP-42). It is told apart from a
 * misspelled path, by a code of its own. docs/surface.md says why.
 */
import { AppError } from "../../platform/base/errors.ts";

/** What the paths are about, by their first segment. */
const products: ReadonlyMap<string, string> = new Map([
  ["apps", "apps that run in a cloud"],
  ["deployments", "deployments of apps"],
  ["invocations", "invocations of apps"],
  ["search", "a search engine of the web"],
  ["vault-provider-configs", "wallets of payment providers"],
]);

/** The error for a path of another product; undefined for any other path. */
export const anotherProduct = (path: string): AppError | undefined => {
  const [, segment = ""] = path.split("/");
  const product = products.get(segment);
  return product === undefined
    ? undefined
    : new AppError(
        "another_product",
        `/${segment} is for ${product}: another product, which this service is not (docs/surface.md)`,
      );
};
