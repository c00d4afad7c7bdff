"""The paper's tables and figures, made with xorder's public interface."""
