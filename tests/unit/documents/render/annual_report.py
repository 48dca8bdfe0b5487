"""The example of the specification as objects of the model."""

from typing import Final

from a2c_smcp.documents.model import Document, Element, Page, PageEntry

REPORT: Final = Document(
    host="com.example.docs",
    doc_ref="rpt-2026",
    file_uri="file:///data/reports/2026-annual.xlsx",
    file_type="xlsx",
    title="2026 年度报告",
    page_count=12,
    keywords=("财务", "年报"),
    summary="2026 年度财务与运营报告",
    last_modified="2026-01-15T08:30:00Z",
)
CONTRACT: Final = Document(
    host="com.example.docs",
    doc_ref="contract-a1",
    file_uri="file:///data/contracts/a1.pdf",
    file_type="pdf",
    title="A1 合同",
    page_count=5,
    keywords=("合同",),
    summary="A1 项目服务合同",
    last_modified="2026-02-01T14:00:00Z",
)
ENTRIES: Final = (PageEntry(0, "概览", 8), PageEntry(1, "收入分析", 15))
HEADING: Final = Element("h-001", "heading", {"level": 1, "text": "2026 年度总结"}, "2026 年度总结")
TEXT: Final = Element(
    "txt-001", "text", {"text": "本报告总结了 2026 年度公司在各业务领域的运营情况..."}, "报告引言段落"
)
TABLE: Final = Element(
    "tbl-001",
    "table",
    {
        "headers": ["季度", "收入（万元）", "同比增长"],
        "rows": [
            ["Q1", "1,250", "+12%"],
            ["Q2", "1,380", "+15%"],
            ["Q3", "1,420", "+8%"],
            ["Q4", "1,560", "+18%"],
        ],
    },
    "季度收入对比表（4行3列）",
    {"source_range": "A1:C5", "has_formulas": True},
)
CHART: Final = Element(
    "chart-001",
    "chart",
    {
        "chart_type": "line",
        "title": "季度收入趋势",
        "data_summary": "Q1-Q4 收入呈上升趋势，Q4 达到最高点 1,560 万元",
    },
    "季度收入趋势图",
)
PAGE: Final = Page(0, "概览", (HEADING, TEXT, TABLE, CHART))
