/**
 * A city as providers name it in usernames: lower case, without accents, and nothing but letters, digits and `_`. So a city can't add
 * parameters of its own to the username that it becomes a part of. Empty for a name without any such letter.
 */
export const cityAlias = (city: string): string =>
  city
    .normalize("NFD")
    .toLowerCase()
    .replace(/[^a-z0-9_]/g, "");
