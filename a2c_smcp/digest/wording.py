"""The words of a digest itself, in the language of the document. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_WIDE = re.compile(r"[\u3400-\u9fff]")
_LETTER = re.compile(r"[^\W\d_]")
_SHARE: Final = 0.25


@dataclass(frozen=True, slots=True)
class Words:
    """What the digest says in its own voice."""

    made_of: str
    by_model: str
    partly_by_model: str
    model_failed: str
    model_idle: str
    checked: str
    extractive: str
    unread_count: str
    unread: str
    contents: str
    pages: str
    page: str
    outline: str
    key_points: str
    tables: str
    images: str
    more_tables: str
    other_pages: str
    nothing: str
    failed: str
    approximate: str


ENGLISH: Final = Words(
    made_of="Digest of {name}, {count} pages.",
    by_model="Written by the model {model}.",
    partly_by_model="{done} of {total} sections were written by the model {model}; the others hold what was extracted.",
    model_failed="The model {model} was asked and failed for every section: headings, key sentences, tables and images "
    "were extracted by page.",
    model_idle="The model {model} was not asked, since there was no text to write about.",
    checked="Citations of pages outside their section were removed: {0}.",
    extractive="Made without a language model: headings, key sentences, tables and images by page.",
    unread_count="{count} of {total} pages could not be read: {pages}.",
    unread="{pages} could not be read: {why}",
    contents="Contents",
    pages="Pages {0}",
    page="Page {0}",
    outline="Headings",
    key_points="Key points",
    tables="Tables",
    images="Images",
    more_tables="{0} more tables on these pages",
    other_pages="Other pages: {0}",
    nothing="These pages hold no text.",
    failed="The model failed for this section ({0}); what follows was extracted.",
    approximate="The text does not say where pages begin: page numbers are those of whole sections.",
)
CHINESE: Final = Words(
    made_of="{name} 的图文摘要，共 {count} 页。",
    by_model="由模型 {model} 撰写。",
    partly_by_model="{total} 节中有 {done} 节由模型 {model} 撰写，其余为自动摘录。",
    model_failed="已调用模型 {model}，但所有章节均失败：以下按页摘录标题、关键句、表格与图片。",
    model_idle="没有可供撰写的文字，未调用模型 {model}。",
    checked="已删除指向本节以外页面的引用：{0} 处。",
    extractive="未使用语言模型：按页列出标题、关键句、表格与图片。",
    unread_count="{total} 页中有 {count} 页未能读取：{pages}。",
    unread="{pages}未能读取：{why}",
    contents="目录",
    pages="第 {0} 页",
    page="第 {0} 页",
    outline="标题",
    key_points="要点",
    tables="表格",
    images="图片",
    more_tables="这些页面另有 {0} 个表格",
    other_pages="其他页面：{0}",
    nothing="这些页面没有文字。",
    failed="本节的模型调用失败（{0}），以下内容为自动摘录。",
    approximate="原文没有标明分页：页码为整节的页码。",
)


def words_for(texts: Iterable[str]) -> Words:
    """Return the words of the language that most of the text is in."""
    sample = "".join(text[:2_000] for text in texts)[:20_000]
    letters = len(_LETTER.findall(sample))
    return CHINESE if letters and len(_WIDE.findall(sample)) > letters * _SHARE else ENGLISH
