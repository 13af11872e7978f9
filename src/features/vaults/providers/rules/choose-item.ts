/** Which items of a store are for a connection's domain (PROVIDER-8); pure. */
import { isHostOf } from "../../own-logins/rules/allowed-pages.ts";
import type { ProviderItem } from "../provider.ts";

const hostsOf = ({ urls }: ProviderItem): string[] => urls.flatMap((url) => URL.parse(url)?.hostname ?? []);

/** Whether an address of the item is at the domain, or below it. */
export const isFor = (item: ProviderItem, domain: string): boolean =>
  hostsOf(item).some((host) => isHostOf(host, { domain }));

/** The item for a domain: one with an address at the domain itself before others, then the first by its path. */
export const chooseItem = (items: readonly ProviderItem[], domain: string): ProviderItem | undefined => {
  const isExact = (item: ProviderItem): boolean => hostsOf(item).includes(domain);
  const order = (a: ProviderItem, b: ProviderItem): number =>
    Number(isExact(b)) - Number(isExact(a)) || (a.path < b.path ? -1 : 1);
  return items.filter((item) => isFor(item, domain)).sort(order)[0];
};
