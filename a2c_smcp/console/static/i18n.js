// The console's own words, times and numbers. What comes from documents and tools is shown as it is.

import en from "/static/words/en.js";
import zh from "/static/words/zh.js";

const WORDS = { en, zh };

let language = localStorage.getItem("language") || (navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en");

export const current = () => language;
export const locale = () => (language === "zh" ? "zh-CN" : "en");

export function toggle() {
  language = language === "en" ? "zh" : "en";
  localStorage.setItem("language", language);
}

const find = (words, key) => key.split(".").reduce((found, part) => found?.[part], words);

export function t(key, ...values) {
  const text = find(WORDS[language], key) ?? find(WORDS.en, key) ?? key.split(".").at(-1);
  return text.replace(/\{(\d)\}/g, (_, index) => values[index] ?? "");
}

// "1 page", "2 pages": the words of a count may differ for one.
export function count(key, number) {
  const known = typeof number === "number";
  return t(known && number === 1 && find(WORDS[language], `${key}One`) ? `${key}One` : key, known ? number.toLocaleString(locale()) : "?");
}

export function date(text) {
  const moment = new Date(text);
  return Number.isNaN(moment.getTime()) ? "" : moment.toLocaleDateString(locale(), { year: "numeric", month: "short", day: "numeric" });
}

export function time(text) {
  const moment = new Date(text);
  return Number.isNaN(moment.getTime()) ? "" : moment.toLocaleTimeString(locale(), { hour12: false });
}

export function seconds(value) {
  return value < 1 ? t("milliseconds", Math.round(value * 1000)) : t("seconds", value.toFixed(value < 10 ? 2 : 1));
}
