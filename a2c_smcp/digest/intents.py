"""What a text asks for, by rules in Chinese and English; by the model where one is configured.

What is asked for decides which steps of the pipeline run.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from a2c_smcp.digest.framework_protocol import INTENT_EXPERT, Params, Response, make_request, respond
from a2c_smcp.digest.llm_proxy import LlmProxy
from a2c_smcp.errors import BadRequest

INTENTS: Final[Mapping[str, str]] = {
    "digest": "make a digest, a reading or an interpretation of a document",
    "summarize": "summarize, or list the key points",
    "ocr": "recognize text in scans or pictures",
    "extract_text": "get the text out of a document",
    "extract_tables": "get the tables out of a document",
    "extract_images": "get pictures, figures or page images out of a document",
    "translate": "translate",
    "search": "find something in documents",
    "answer": "answer a question about a document",
    "convert": "convert to another format",
    "compare": "compare documents",
    "install": "install what is missing",
}

INSTALL, EXTRACT, COMPOSE = "install", "extract", "compose"
"""The steps of the pipeline, in their order."""

STEPS: Final[Mapping[str, tuple[str, ...]]] = {
    "digest": (INSTALL, EXTRACT, COMPOSE),
    "summarize": (INSTALL, EXTRACT, COMPOSE),
    "extract_tables": (INSTALL, EXTRACT, COMPOSE),
    "translate": (INSTALL, EXTRACT, COMPOSE),
    "answer": (INSTALL, EXTRACT, COMPOSE),
    "ocr": (INSTALL, EXTRACT),
    "extract_text": (INSTALL, EXTRACT),
    "extract_images": (INSTALL, EXTRACT),
    "install": (INSTALL,),
}
"""Which steps do what is asked for; the pipeline can do nothing else."""

NEEDS_MODEL: Final = frozenset({"translate", "answer"})

# How sure a match makes: a word that says the thing itself, and one that may mean something else.
_SURE, _LIKELY = 0.9, 0.6
_RULES: Final[tuple[tuple[str, float, str], ...]] = (
    ("digest", _SURE, r"\bdigest|\binterpret(?:ation|ing)?\b|指南解读|解读|导读|精读|文摘"),
    ("digest", _LIKELY, r"\billustrated\b|图文|整理成|生成(?:一份)?(?:报告|文章|markdown)|\bwrite[- ]?up\b"),
    (
        "summarize",
        _SURE,
        r"\bsummar(?:y|ies|i[sz]e)|\bkey (?:points?|findings|takeaways)|\btl;?dr\b|摘要|总结|概括|要点|概述",
    ),
    ("summarize", _LIKELY, r"\boverview\b|\bgist\b|\bbrief\b|简述|梳理|提炼"),
    (
        "ocr",
        _SURE,
        r"\bocr\b|\brecogni[sz]e (?:the )?(?:text|characters)|文字识别|光学识别|识别(?:图片|扫描|文字|图像)",
    ),
    ("ocr", _LIKELY, r"\bscan(?:s|ned)?\b|\bphoto(?:s|graphed)?\b|扫描|拍照|照片"),
    (
        "extract_text",
        _SURE,
        r"\bextract(?:ing|ion)?(?: all| the| of)* text|\bplain text\b|(?:提取|抽取|导出)(?:全部)?(?:文本|文字|正文)",
    ),
    ("extract_tables", _SURE, r"\bextract\b[^.。]{0,30}\btables?\b|(?:提取|抽取|导出)[^。]{0,12}表格"),
    ("extract_tables", _LIKELY, r"\btables?\b|\bspreadsheets?\b|表格"),
    (
        "extract_images",
        _SURE,
        r"\bextract\b[^.。]{0,30}\b(?:images?|figures?|pictures?)\b|(?:提取|抽取|导出)[^。]{0,12}(?:图片|插图|图像)",
    ),
    ("extract_images", _LIKELY, r"\bfigures?\b|\bimages?\b|\bpictures?\b|插图|图片|配图"),
    ("translate", _SURE, r"\btranslat(?:e|ion|ing)|翻译|译成|译为"),
    ("search", _SURE, r"\bsearch(?:ing)?\b|\blook (?:up|for)\b|搜索|检索|查找"),
    ("search", _LIKELY, r"\bfind\b|\bwhere\b|哪里|找到|找出"),
    (
        "answer",
        _LIKELY,
        r"[?？]\s*$|^\s*(?:what|why|how|who|when|which|does|is|are|can)\b|什么|为什么|如何|怎么|是否|多少|谁|哪些",
    ),
    ("convert", _SURE, r"\bconvert(?:ing)?\b|\bexport\b[^.。]{0,20}\b(?:as|to)\b|转换(?:成|为)|转成|转为|导出为"),
    ("compare", _SURE, r"\bcompar(?:e|ison|ing)\b|\bdifferences? between\b|对比|比较|差异"),
    ("install", _SURE, r"\binstall(?:ing|ation)?\b|安装|装[^。]{0,6}(?:依赖|包|库)"),
)
_PATTERNS: Final = tuple((intent, weight, re.compile(rule, re.IGNORECASE)) for intent, weight, rule in _RULES)
_NOT = re.compile(
    r"(?:\bdo(?:es)? not\b|\bdon't\b|\bwithout\b|\bno\b|不要|无需|不需要|别|勿|不用)\W{0,3}(?:\w+\W+){0,2}$",
    re.IGNORECASE,
)
_DEFAULT: Final = ("digest", 0.3)
_AGREEMENT: Final = 0.05

_SYSTEM: Final = "You sort requests about documents. Answer with JSON alone."


class IntentExpert:
    """Rules, and the model over them where one is configured; a model that fails is as good as none."""

    def __init__(self, llm: LlmProxy | None = None) -> None:
        self._llm = llm

    def identify(self, params: Params) -> Response:
        """Return the response with `intents`, the surest first, and `confidence`; both stand at its top as well."""
        response = respond(params, self._identify)
        return {**response, **(response["data"] or {})}  # type: ignore[typeddict-item]

    def _identify(self, params: dict[str, Any], trace_id: str) -> dict[str, Any]:
        text = params.get("text", params.get("query", params.get("task")))
        if not isinstance(text, str) or not text.strip():
            raise BadRequest("The parameter 'text' is missing: what is asked for, in words")
        if self._llm is not None and self._llm.settings.configured:
            asked = self._ask(text, trace_id)
            if asked is not None:
                return asked
        found = by_rules(text)
        intents = sorted(found, key=lambda intent: -found[intent])
        return {"intents": intents, "confidence": round(found[intents[0]], 2), "by": "rules"}

    def _ask(self, text: str, trace_id: str) -> dict[str, Any] | None:
        known = "\n".join(f"- {intent}: {meaning}" for intent, meaning in INTENTS.items())
        prompt = (
            f"Which of these does the request ask for?\n{known}\n\nRequest:\n{text[:4_000]}\n\n"
            'Answer {"intents": ["..."], "confidence": 0.0 to 1.0}, the main one first.'
        )
        params = {"prompt": prompt, "system": _SYSTEM, "temperature": 0, "max_tokens": 200}
        response = self._llm.ask(make_request(INTENT_EXPERT, params=params, trace_id=trace_id)) if self._llm else None
        answer = _object_in(str((response.get("data") or {}).get("text", ""))) if response else None
        named = answer.get("intents") if answer else None
        intents = [intent for intent in named if intent in INTENTS] if isinstance(named, list) else []
        confidence = answer.get("confidence") if answer else None
        if not intents or not isinstance(confidence, int | float):
            return None
        return {
            "intents": list(dict.fromkeys(intents)),
            "confidence": min(max(float(confidence), 0.0), 1.0),
            "by": "model",
        }


def steps_for(intents: Sequence[str], *, model: bool) -> list[str]:
    """Return the steps that do what is asked for, in their order.

    Args:
        model: Whether there is a language model.

    Raises:
        BadRequest: Nothing of it can be done here.
    """
    possible = [intent for intent in intents if intent in STEPS and (model or intent not in NEEDS_MODEL)]
    if not possible:
        lacking = [intent for intent in intents if intent in NEEDS_MODEL]
        why = "that needs a language model (--llm_url)" if lacking else f"it can {', '.join(STEPS)}"
        raise BadRequest(f"The pipeline cannot do what the task asks for ({', '.join(intents)}): {why}")
    wanted = {step for intent in possible for step in STEPS[intent]}
    return [step for step in (INSTALL, EXTRACT, COMPOSE) if step in wanted]


def by_rules(text: str) -> dict[str, float]:
    """Return how sure each intent is; a text that says nothing asks for a digest, perhaps."""
    found: dict[str, float] = {}
    for intent, weight, pattern in _PATTERNS:
        match = next((one for one in pattern.finditer(text) if not _NOT.search(text[: one.start()])), None)
        if match is not None:
            before = found.get(intent, 0.0)
            found[intent] = min(max(before, weight) + (_AGREEMENT if before else 0.0), 0.99)
    return found or dict([_DEFAULT])


def _object_in(text: str) -> dict[str, Any] | None:
    match = re.search(r"\{.*\}", text, re.DOTALL)
    try:
        value = json.loads(match[0]) if match else None
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
